package millrace.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateRestoreListener;

/** One JSON object a line on stdout; what they mean stands in harness/side-report.ts. */
final class Reports {
    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final AtomicLong restored = new AtomicLong();

    void starting() {
        print("\"event\":\"starting\"");
    }

    void state(String state) {
        print("\"event\":\"state\",\"state\":\"" + state.toLowerCase(java.util.Locale.ROOT) + "\"");
    }

    void progress(long processed) {
        long cpuMs = system.getProcessCpuTime() / 1_000_000;
        print("\"event\":\"progress\",\"processed\":" + processed + ",\"cpuMs\":" + cpuMs);
    }

    void tasks(List<Integer> active, int copies, long lag) {
        print("\"event\":\"tasks\",\"active\":" + active + ",\"copies\":" + copies + ",\"lag\":" + lag);
    }

    StateRestoreListener restoreListener() {
        return new StateRestoreListener() {
            @Override
            public void onRestoreStart(TopicPartition partition, String store, long from, long to) {}

            @Override
            public void onBatchRestored(TopicPartition partition, String store, long to, long count) {}

            @Override
            public void onRestoreEnd(TopicPartition partition, String store, long count) {
                print("\"event\":\"restored\",\"records\":" + restored.addAndGet(count));
            }
        };
    }

    private void print(String fields) {
        String line = "{\"at\":" + System.currentTimeMillis() + "," + fields + "}";
        synchronized (System.out) {
            System.out.println(line);
        }
    }
}
