package millrace.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.TimeWindowedKStream;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;

/** The vocabulary of the cases in Java: the same operations as in ../../../../../../kafka-streams/topologies. */
final class Topologies {
    private static final Serde<String> TEXT = Serdes.String();
    private static final Consumed<String, String> CONSUMED = Consumed.with(TEXT, TEXT);
    private static final Produced<String, String> PRODUCED = Produced.with(TEXT, TEXT);

    private final StreamsBuilder builder = new StreamsBuilder();
    private final JsonNode definition;

    private Topologies(JsonNode definition) {
        this.definition = definition;
    }

    /** Throws UnsupportedOperationException when something the definition needs is not here. */
    static Topology build(JsonNode definition) {
        Topologies topologies = new Topologies(definition);
        topologies.declare();
        return topologies.builder.build();
    }

    private void declare() {
        String operation = definition.path("op").asText();
        switch (operation) {
            case "merge" -> stream("L").merge(stream("R")).to("OUT", PRODUCED);
            case "source-table" -> builder.table("L", CONSUMED, tableStore("src")).toStream().to("OUT", PRODUCED);
            case "stream-to-table" -> stream("L").toTable(rows("x")).toStream().to("OUT", PRODUCED);
            case "stream-repartition" -> stream("L").repartition(Repartitioned.with(TEXT, TEXT)).to("OUT", PRODUCED);
            case "stream-aggregate" -> streamAggregate();
            case "stream-table-join" -> streamTableJoin();
            case "stream-globaltable-join" -> streamGlobalTableJoin();
            case "window-aggregate" -> windowAggregate();
            default -> throw new UnsupportedOperationException("operation " + operation);
        }
    }

    private void streamAggregate() {
        KGroupedStream<String, String> grouped = stream("L").groupByKey(Grouped.with(TEXT, TEXT));
        switch (definition.path("aggregate").asText()) {
            case "count" -> grouped.count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("a").withCachingDisabled())
                .toStream().mapValues(Topologies::print).to("OUT", PRODUCED);
            case "reduce+" -> grouped.reduce((all, value) -> all + "+" + value, rows("a")).toStream().to("OUT", PRODUCED);
            default -> grouped.aggregate(() -> "0", (key, value, all) -> all + "+" + value, rows("a")).toStream().to("OUT", PRODUCED);
        }
    }

    private void streamTableJoin() {
        if (definition.has("graceMs")) {
            throw new UnsupportedOperationException("joins with a grace period");
        }
        KStream<String, String> left = stream("L");
        if (definition.path("repartitionLeft").asBoolean()) {
            left = left.repartition(Repartitioned.with(TEXT, TEXT));
        }
        KTable<String, String> right = builder.table("R", CONSUMED, tableStore("tbl"));
        Joined<String, String, String> joined = Joined.with(TEXT, TEXT, TEXT);
        (isInner() ? left.join(right, joiner(), joined) : left.leftJoin(right, joiner(), joined)).to("OUT", PRODUCED);
    }

    private void streamGlobalTableJoin() {
        KStream<String, String> left = stream("L");
        GlobalKTable<String, String> right = builder.globalTable("R", CONSUMED, tableStore("gtbl"));
        (isInner()
            ? left.join(right, (key, value) -> afterComma(value), joiner())
            : left.leftJoin(right, (key, value) -> afterComma(value), joiner())).to("OUT", PRODUCED);
    }

    private void windowAggregate() {
        if (definition.has("suppress")) {
            throw new UnsupportedOperationException("suppress");
        }
        JsonNode window = definition.get("window");
        if (!window.path("type").asText().equals("time")) {
            throw new UnsupportedOperationException(window.path("type").asText() + " windows");
        }
        TimeWindows windows = TimeWindows.ofSizeAndGrace(millis(window, "sizeMs"), millis(window, "graceMs"));
        if (window.has("advanceMs")) {
            windows = windows.advanceBy(millis(window, "advanceMs"));
        }
        boolean finalOnly = definition.path("emit").asText().equals("close");
        TimeWindowedKStream<String, String> windowed = stream("L").groupByKey(Grouped.with(TEXT, TEXT)).windowedBy(windows)
            .emitStrategy(finalOnly ? EmitStrategy.onWindowClose() : EmitStrategy.onWindowUpdate());
        Materialized<String, String, WindowStore<Bytes, byte[]>> rows =
            Materialized.<String, String, WindowStore<Bytes, byte[]>>as("st").withValueSerde(TEXT).withCachingDisabled();
        switch (definition.path("aggregate").asText()) {
            case "count" -> writeWindows(windowed.count(Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("st").withCachingDisabled()));
            case "reduce+" -> writeWindows(windowed.reduce((all, value) -> all + "+" + value, rows));
            case "aggregate''+" -> writeWindows(windowed.aggregate(() -> "", (key, value, all) -> all + "+" + value, rows));
            default -> writeWindows(windowed.aggregate(() -> "0", (key, value, all) -> all + "+" + value, rows));
        }
    }

    private static <V> void writeWindows(KTable<Windowed<String>, V> table) {
        table.toStream().map((window, value) -> KeyValue.pair(window.toString(), print(value))).to("OUT", PRODUCED);
    }

    private KStream<String, String> stream(String topic) {
        return builder.stream(topic, CONSUMED);
    }

    private Materialized<String, String, KeyValueStore<Bytes, byte[]>> tableStore(String name) {
        JsonNode store = definition.path("tableStore");
        if (!store.isMissingNode() && !store.asText().equals("kv")) {
            throw new UnsupportedOperationException("store " + store);
        }
        return rows(name);
    }

    private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> rows(String name) {
        return Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(name).withKeySerde(TEXT).withValueSerde(TEXT).withCachingDisabled();
    }

    private boolean isInner() {
        return definition.path("kind").asText().equals("inner");
    }

    private ValueJoiner<String, String, String> joiner() {
        String pattern = definition.path("joiner").asText("{l}-{r}");
        return (left, right) -> pattern.replace("{l}", String.valueOf(left)).replace("{r}", String.valueOf(right));
    }

    private static String afterComma(String value) {
        String[] parts = value.split(",");
        return parts.length > 1 ? parts[1] : null;
    }

    private static String print(Object value) {
        return value == null ? null : value.toString();
    }

    private static Duration millis(JsonNode parent, String field) {
        return Duration.ofMillis(parent.path(field).asLong(0));
    }
}
