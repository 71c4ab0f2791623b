package millrace.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Aggregator;
import org.apache.kafka.streams.kstream.CogroupedKStream;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KGroupedTable;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.state.KeyValueStore;

/** Tables made of tables: filter, groupBy and suppress; and cogroup. */
final class TableTopologies {
    private static final Serde<String> TEXT = Serdes.String();
    private static final Consumed<String, String> CONSUMED = Consumed.with(TEXT, TEXT);
    private static final Produced<String, String> PRODUCED = Produced.with(TEXT, TEXT);
    private static final Grouped<String, String> GROUPED = Grouped.with(TEXT, TEXT);

    private final StreamsBuilder builder;
    private final JsonNode definition;

    TableTopologies(StreamsBuilder builder, JsonNode definition) {
        this.builder = builder;
        this.definition = definition;
    }

    void filter() {
        KTable<String, String> table = definition.has("tableStore") ? table() : builder.table("L", CONSUMED);
        boolean odd = definition.path("not").asBoolean();
        (odd ? table.filterNot((key, value) -> isEven(value)) : table.filter((key, value) -> isEven(value)))
            .toStream().to("OUT", PRODUCED);
    }

    void groupByAggregate() {
        String grouping = definition.path("groupBy").asText();
        KGroupedTable<String, String> grouped = table()
            .groupBy((key, value) -> group(grouping, key, value), GROUPED);
        switch (definition.path("aggregate").asText()) {
            case "count" -> write(grouped.count(
                Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("a").withKeySerde(TEXT).withCachingDisabled()), "OUT");
            case "concat-remove" -> grouped.aggregate(
                () -> "", (key, value, all) -> all + value, (key, value, all) -> all.replace(value, ""), rows("a")).toStream().to("OUT", PRODUCED);
            default -> grouped.aggregate(
                () -> "0", (key, value, all) -> all + "+" + value, (key, value, all) -> all + "-" + value, rows("a")).toStream().to("OUT", PRODUCED);
        }
    }

    void groupByValueCountSuppress() {
        KTable<String, Long> counts = builder.table("L", CONSUMED).groupBy((key, value) -> KeyValue.pair(value, key), GROUPED).count();
        JsonNode limit = definition.get("timeLimitMs");
        Duration wait = Duration.ofMillis(limit.isTextual() ? Long.MAX_VALUE : limit.asLong());
        write(counts.suppress(Suppressed.untilTimeLimit(wait, Tables.buffer(definition.path("buffer")))), "SUPPRESSED");
        write(counts, "OUT");
    }

    void suppressGroupByCount() {
        Duration wait = Duration.ofMillis(definition.path("timeLimitMs").asLong());
        write(builder.table("L", CONSUMED).suppress(Suppressed.untilTimeLimit(wait, BufferConfig.unbounded()))
            .groupBy(KeyValue::pair, GROUPED).count(), "OUT");
    }

    void cogroup() {
        CogroupedKStream<String, String> cogrouped = null;
        for (int i = 0; i < definition.get("inputs").size(); i++) {
            String separator = definition.get("separators").get(i).asText();
            KGroupedStream<String, String> input = builder.stream(definition.get("inputs").get(i).asText(), CONSUMED).groupByKey(GROUPED);
            Aggregator<String, String, String> aggregator = (key, value, all) -> all + separator + value;
            cogrouped = cogrouped == null ? input.cogroup(aggregator) : cogrouped.cogroup(input, aggregator);
        }
        String initial = definition.path("init").asText();
        cogrouped.aggregate(() -> initial, rows("a")).toStream().to("OUT", PRODUCED);
    }

    private KTable<String, String> table() {
        return Tables.table(builder, "L", definition.path("tableStore"), "src");
    }

    private static KeyValue<String, String> group(String grouping, String key, String value) {
        return switch (grouping) {
            case "same-key" -> KeyValue.pair(key, value);
            case "value-as-key" -> KeyValue.pair(value, value);
            case "value-as-key-keep-key" -> KeyValue.pair(value, key);
            case "value-as-key-null-special" -> key.equals("NULL") ? null : KeyValue.pair(key.equals("null") ? null : value, value);
            case "first-char-to-second-char" -> KeyValue.pair(key.substring(0, 1), key.substring(1, 2));
            default -> throw new UnsupportedOperationException("groupBy " + grouping);
        };
    }

    private static boolean isEven(String value) {
        return Integer.parseInt(value) % 2 == 0;
    }

    private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> rows(String name) {
        return Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(name).withKeySerde(TEXT).withValueSerde(TEXT).withCachingDisabled();
    }

    private static <V> void write(KTable<String, V> table, String topic) {
        table.toStream().mapValues(value -> value == null ? null : value.toString()).to(topic, PRODUCED);
    }
}
