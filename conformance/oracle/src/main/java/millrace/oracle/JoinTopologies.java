package millrace.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.state.KeyValueStore;

/** The joins of the vocabulary, those with global tables apart. */
final class JoinTopologies {
    private static final Serde<String> TEXT = Serdes.String();
    private static final Consumed<String, String> CONSUMED = Consumed.with(TEXT, TEXT);
    private static final Produced<String, String> PRODUCED = Produced.with(TEXT, TEXT);

    private final StreamsBuilder builder;
    private final JsonNode definition;

    JoinTopologies(StreamsBuilder builder, JsonNode definition) {
        this.builder = builder;
        this.definition = definition;
    }

    void streamStream() {
        KStream<String, String> left = builder.stream("L", CONSUMED);
        KStream<String, String> right = definition.path("self").asBoolean() ? left : builder.stream("R", CONSUMED);
        if (definition.path("repartitionBoth").asBoolean()) {
            left = left.map(KeyValue::pair).repartition(Repartitioned.with(TEXT, TEXT));
            right = right.flatMap((key, value) -> List.of(KeyValue.pair(key, value))).selectKey((key, value) -> key)
                .repartition(Repartitioned.with(TEXT, TEXT));
        }
        KStream<String, String> joined = streamStream(left, right);
        if (definition.path("joinResultAgainWithRight").asBoolean()) {
            joined = streamStream(joined, right);
        }
        joined.to("OUT", PRODUCED);
    }

    private KStream<String, String> streamStream(KStream<String, String> left, KStream<String, String> right) {
        long before = definition.path("beforeMs").asLong();
        long after = definition.path("afterMs").asLong();
        Duration widest = Duration.ofMillis(Math.max(Math.max(before, after), 0));
        JoinWindows windows = JoinWindows.ofTimeDifferenceAndGrace(widest, Duration.ofMillis(definition.path("graceMs").asLong(0)))
            .before(Duration.ofMillis(before)).after(Duration.ofMillis(after));
        StreamJoined<String, String, String> serdes = StreamJoined.with(TEXT, TEXT, TEXT);
        return switch (definition.path("kind").asText()) {
            case "inner" -> left.join(right, joiner(), windows, serdes);
            case "left" -> left.leftJoin(right, joiner(), windows, serdes);
            default -> left.outerJoin(right, joiner(), windows, serdes);
        };
    }

    void streamTable() {
        KStream<String, String> left = builder.stream("L", CONSUMED);
        if (definition.path("repartitionLeft").asBoolean()) {
            left = left.repartition(Repartitioned.with(TEXT, TEXT));
        }
        KTable<String, String> right = table("R", "tableStore", "tbl");
        Joined<String, String, String> joined = definition.has("graceMs")
            ? Joined.with(TEXT, TEXT, TEXT, "grace", Duration.ofMillis(definition.get("graceMs").asLong()))
            : Joined.with(TEXT, TEXT, TEXT);
        boolean inner = definition.path("kind").asText().equals("inner");
        (inner ? left.join(right, joiner(), joined) : left.leftJoin(right, joiner(), joined)).to("OUT", PRODUCED);
    }

    void tableTable() {
        KTable<String, String> joined = suppressed(table("L", "leftStore", "left"), "suppressLeftMs");
        KTable<String, String> right = suppressed(table("R", "rightStore", "right"), "suppressRightMs");
        int left = definition.get("kinds").size();
        for (JsonNode kind : definition.get("kinds")) {
            left--;
            boolean keep = left == 0 && !definition.path("unmaterialized").asBoolean();
            joined = tableTable(joined, right, kind.asText(), keep ? store("res") : Materialized.with(TEXT, TEXT), keep);
        }
        joined.toStream().to("OUT", PRODUCED);
    }

    private KTable<String, String> tableTable(
        KTable<String, String> left,
        KTable<String, String> right,
        String kind,
        Materialized<String, String, KeyValueStore<Bytes, byte[]>> rows,
        boolean keep
    ) {
        return switch (kind) {
            case "inner" -> keep ? left.join(right, joiner(), rows) : left.join(right, joiner());
            case "left" -> keep ? left.leftJoin(right, joiner(), rows) : left.leftJoin(right, joiner());
            default -> keep ? left.outerJoin(right, joiner(), rows) : left.outerJoin(right, joiner());
        };
    }

    private KTable<String, String> suppressed(KTable<String, String> table, String field) {
        if (!definition.has(field)) {
            return table;
        }
        Duration limit = Duration.ofMillis(definition.get(field).asLong());
        return table.suppress(Suppressed.untilTimeLimit(limit, Suppressed.BufferConfig.unbounded()));
    }

    void foreignKey() {
        KTable<String, String> left = table("L", "leftStore", "left");
        KTable<String, String> right = table("R", "rightStore", "right");
        String rule = definition.path("fk").asText("after-bar");
        Function<String, String> foreignKey = value -> foreignKeyOf(rule, value);
        boolean inner = definition.path("kind").asText().equals("inner");
        (inner ? left.join(right, foreignKey, joiner(), store("res")) : left.leftJoin(right, foreignKey, joiner(), store("res")))
            .toStream().to("OUT", PRODUCED);
    }

    private static String foreignKeyOf(String rule, String value) {
        if (rule.equals("null")) {
            return null;
        }
        String key = value.split("\\|")[1];
        return rule.equals("after-bar-or-null") && key.equals("returnNull") ? null : key;
    }

    private KTable<String, String> table(String topic, String field, String name) {
        return Tables.table(builder, topic, definition.path(field), name);
    }

    private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> store(String name) {
        return Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(name).withKeySerde(TEXT).withValueSerde(TEXT).withCachingDisabled();
    }

    private ValueJoiner<String, String, String> joiner() {
        String pattern = definition.path("joiner").asText("{l}-{r}");
        return (left, right) -> pattern.replace("{l}", String.valueOf(left)).replace("{r}", String.valueOf(right));
    }
}
