package millrace.bench;

import java.time.Duration;
import java.util.Locale;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TimeWindows;

/** The topologies of ours/topologies.ts, operator by operator. Stores are the default: RocksDB behind the record cache. */
final class Topologies {
    private static final Serde<String> STRING = Serdes.String();
    private static final int JOINED_BYTES = 50;

    static Topology build(Options options) {
        StreamsBuilder builder = new StreamsBuilder();
        String input = options.text("input");
        String output = options.text("output");
        switch (options.text("topology")) {
            case "map" -> strings(builder, input).mapValues(value -> value.toUpperCase(Locale.ROOT)).to(output, Produced.with(STRING, STRING));
            case "json-map" -> {
                Serde<Item> items = Item.serde();
                builder.stream(input, Consumed.with(STRING, items)).mapValues(Item::withOneMore).to(output, Produced.with(STRING, items));
            }
            case "count" -> counts(byKey(builder, input).count(Materialized.as("counts")).toStream(), output);
            case "avro-count" -> counts(
                builder.stream(input, Consumed.with(STRING, AvroItem.serde()))
                    .filter((key, item) -> (int) item.get("amount") > 0)
                    .groupByKey(Grouped.with(STRING, AvroItem.serde()))
                    .count(Materialized.as("counts"))
                    .toStream(),
                output);
            case "repartition-count" -> counts(
                strings(builder, input)
                    .groupBy((key, value) -> key.substring(4), Grouped.with("by-number", STRING, STRING))
                    .count(Materialized.as("counts"))
                    .toStream(),
                output);
            case "tumbling-count" -> counts(
                byKey(builder, input)
                    .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMinutes(1)))
                    .count(Materialized.as("counts"))
                    .toStream((key, count) -> key.key() + "@" + key.window().start()),
                output);
            case "session-count" -> counts(
                byKey(builder, input)
                    .windowedBy(SessionWindows.ofInactivityGapWithNoGrace(Duration.ofSeconds(10)))
                    .count(Materialized.as("counts"))
                    .toStream((key, count) -> key.key() + "@" + key.window().start() + "-" + key.window().end()),
                output);
            case "stream-table-join" -> {
                KTable<String, String> table = builder.table(options.text("other"), Consumed.with(STRING, STRING));
                strings(builder, input).join(table, Topologies::joined).to(output, Produced.with(STRING, STRING));
            }
            case "stream-stream-join" -> strings(builder, input)
                .join(
                    strings(builder, options.text("other")),
                    Topologies::joined,
                    JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofSeconds(10)),
                    StreamJoined.with(STRING, STRING, STRING))
                .to(output, Produced.with(STRING, STRING));
            default -> throw new IllegalArgumentException("no topology " + options.text("topology"));
        }
        return builder.build();
    }

    private static KStream<String, String> strings(StreamsBuilder builder, String topic) {
        return builder.stream(topic, Consumed.with(STRING, STRING));
    }

    private static KGroupedStream<String, String> byKey(StreamsBuilder builder, String topic) {
        return strings(builder, topic).groupByKey(Grouped.with(STRING, STRING));
    }

    private static void counts(KStream<String, Long> counts, String output) {
        counts.to(output, Produced.with(STRING, Serdes.Long()));
    }

    private static String joined(String left, String right) {
        return left.substring(JOINED_BYTES) + right.substring(JOINED_BYTES);
    }

    private Topologies() {}
}
