package millrace.bench;

import java.util.Locale;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/** The topologies of ours/topologies.ts, operator by operator. Stores are the default: RocksDB behind the record cache. */
final class Topologies {
    static Topology build(Options options) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> input = builder.stream(options.text("input"), Consumed.with(Serdes.String(), Serdes.String()));
        String output = options.text("output");
        switch (options.text("topology")) {
            case "map" -> input.mapValues(value -> value.toUpperCase(Locale.ROOT)).to(output, Produced.with(Serdes.String(), Serdes.String()));
            case "count" -> input
                .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                .count(Materialized.as("counts"))
                .toStream()
                .to(output, Produced.with(Serdes.String(), Serdes.Long()));
            default -> throw new IllegalArgumentException("no topology " + options.text("topology"));
        }
        return builder.build();
    }

    private Topologies() {}
}
