package millrace.bench;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.LagInfo;
import org.apache.kafka.streams.ThreadMetadata;

/** Tells four times a second which tasks run here, and how far the copies that are kept here are behind. */
final class Tasks {
    static void tell(KafkaStreams streams, Reports reports) {
        var timer = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        timer.scheduleWithFixedDelay(() -> tellOnce(streams, reports), 250, 250, TimeUnit.MILLISECONDS);
    }

    private static void tellOnce(KafkaStreams streams, Reports reports) {
        try {
            Set<ThreadMetadata> threads = streams.metadataForLocalThreads();
            List<Integer> active = threads.stream().flatMap(thread -> thread.activeTasks().stream()).map(task -> task.taskId().partition()).toList();
            Set<Integer> copies = new HashSet<>();
            threads.forEach(thread -> thread.standbyTasks().forEach(task -> copies.add(task.taskId().partition())));
            // What is being restored has left RUNNING or is not among the active ones yet.
            reports.tasks(active, copies.size(), copies.isEmpty() ? 0 : lagOf(streams, copies));
        } catch (IllegalStateException | org.apache.kafka.streams.errors.StreamsException notNow) {
            // It starts or stops.
        }
    }

    private static long lagOf(KafkaStreams streams, Set<Integer> partitions) {
        long lag = 0;
        for (Map<Integer, LagInfo> store : streams.allLocalStorePartitionLags().values()) {
            for (int partition : partitions) lag += store.containsKey(partition) ? store.get(partition).offsetLag() : Long.MAX_VALUE / 8;
        }
        return lag;
    }

    private Tasks() {}
}
