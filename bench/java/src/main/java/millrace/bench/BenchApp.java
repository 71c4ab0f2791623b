package millrace.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;

/**
 * One Kafka Streams app, as ours/app.ts is one of Millrace: same arguments, same lines on stdout, same end. It closes when its standard input ends or
 * when it has processed as many records as it was told, leaves the group, and exits.
 */
public final class BenchApp {
    public static void main(String[] arguments) throws Exception {
        Options options = Options.parse(arguments);
        Reports reports = new Reports();
        KafkaStreams streams = new KafkaStreams(Topologies.build(options), configOf(options));
        CountDownLatch done = new CountDownLatch(1);
        streams.setStateListener((state, before) -> {
            reports.state(state.name());
            if (state == KafkaStreams.State.ERROR) System.exit(1);
        });
        streams.setGlobalStateRestoreListener(reports.restoreListener());
        Progress progress = new Progress(streams, reports, options.number("stop-after", Long.MAX_VALUE), done::countDown);
        countDownAtEndOfInput(done);
        reports.starting();
        streams.start();
        progress.start();
        if (options.isYes("tell-tasks")) Tasks.tell(streams, reports);
        done.await();
        streams.close(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP).withTimeout(Duration.ofSeconds(60)));
        progress.stop();
        System.exit(0);
    }

    /** Defaults but for what both sides are given alike. */
    private static Properties configOf(Options options) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, options.text("application-id"));
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, options.text("bootstrap"));
        config.put(StreamsConfig.STATE_DIR_CONFIG, options.text("state-dir"));
        config.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, (int) options.number("threads", 1));
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guaranteeOf(options));
        config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, options.text("commit-interval"));
        config.put(StreamsConfig.producerPrefix(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG), (int) options.number("transaction-timeout", 10_000));
        config.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
        options.ifGiven("group-protocol", value -> config.put(StreamsConfig.GROUP_PROTOCOL_CONFIG, value));
        options.ifGiven("standbys", value -> config.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, value));
        options.ifGiven("session-timeout", value -> config.put(StreamsConfig.consumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), value));
        options.ifGiven("probing-interval", value -> config.put(StreamsConfig.PROBING_REBALANCE_INTERVAL_MS_CONFIG, value));
        return config;
    }

    private static String guaranteeOf(Options options) {
        return options.text("guarantee").equals("exactly_once") ? StreamsConfig.EXACTLY_ONCE_V2 : StreamsConfig.AT_LEAST_ONCE;
    }

    private static void countDownAtEndOfInput(CountDownLatch done) {
        Thread thread = new Thread(() -> {
            try {
                while (System.in.read() >= 0) continue;
            } catch (IOException closed) {
                // The owner is gone: the same as its end.
            }
            done.countDown();
        });
        thread.setDaemon(true);
        thread.start();
    }

    private BenchApp() {}
}
