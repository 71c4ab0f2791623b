package millrace.bench;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.Metric;
import org.apache.kafka.streams.KafkaStreams;

/** Reads the stream thread's own counter of processed records every 10 ms, so that nothing is counted on the record path. */
final class Progress {
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });
    private final KafkaStreams streams;
    private final Reports reports;
    private final long stopAfter;
    private final Runnable onEnough;
    private Metric processTotal;

    Progress(KafkaStreams streams, Reports reports, long stopAfter, Runnable onEnough) {
        this.streams = streams;
        this.reports = reports;
        this.stopAfter = stopAfter;
        this.onEnough = onEnough;
    }

    void start() {
        timer.scheduleAtFixedRate(this::report, 10, 10, TimeUnit.MILLISECONDS);
    }

    void stop() {
        timer.shutdownNow();
        report();
    }

    private void report() {
        long processed = processed();
        reports.progress(processed);
        if (processed >= stopAfter) onEnough.run();
    }

    private long processed() {
        if (processTotal == null) processTotal = find();
        return processTotal == null ? 0 : ((Number) processTotal.metricValue()).longValue();
    }

    private Metric find() {
        return streams.metrics().entrySet().stream()
            .filter(entry -> entry.getKey().name().equals("process-total") && entry.getKey().group().equals("stream-thread-metrics"))
            .map(entry -> (Metric) entry.getValue())
            .findFirst()
            .orElse(null);
    }
}
