package millrace.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedTable;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TableJoined;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.kstream.internals.NamedInternal;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.VersionedBytesStoreSupplier;

/** The operation `pipeline`: stages one after the other, each on the stream or table that the one before left. This class does the stages of tables. */
final class Pipeline {
    static final Serde<String> TEXT = Serdes.String();
    static final Consumed<String, String> CONSUMED = Consumed.with(TEXT, TEXT);
    private static final ValueJoiner<String, String, String> PAIR = Pipeline::pair;

    private final StreamsBuilder builder;
    private final JsonNode definition;
    private KTable<String, String> right;

    Pipeline(StreamsBuilder builder, JsonNode definition) {
        this.builder = builder;
        this.definition = definition;
    }

    void declare() {
        PipelineStreams streams = new PipelineStreams(builder, this);
        KTable<String, String> table = null;
        if (definition.path("from").asText().equals("table")) {
            table = Tables.table(builder, "L", definition.path("leftStore"), "left");
        } else {
            streams.start();
        }
        int index = 0;
        for (JsonNode stage : definition.get("stages")) {
            Step step = new Step(stage, index++, definition.path("named").asBoolean());
            table = table == null ? streams.apply(step) : apply(streams, table, step);
        }
        (table == null ? streams.current() : table.toStream()).to("OUT", Produced.with(TEXT, TEXT));
    }

    /** The table that the stage leaves; null when it leaves a stream. */
    private KTable<String, String> apply(PipelineStreams streams, KTable<String, String> table, Step step) {
        Named name = step.named();
        Materialized<String, String, KeyValueStore<Bytes, byte[]>> rows = step.rows();
        boolean kept = step.isKept();
        return switch (step.action()) {
            case "filter" -> kept ? table.filter((k, v) -> keeps(v), name, rows) : table.filter((k, v) -> keeps(v), name);
            case "filterNot" -> kept ? table.filterNot((k, v) -> keeps(v), name, rows) : table.filterNot((k, v) -> keeps(v), name);
            case "mapValues" -> kept ? table.mapValues(v -> mark(v), name, rows) : table.mapValues(v -> mark(v), name);
            case "transformValues" -> transformValues(table, step);
            case "toStream" -> streams.continueWith(table.toStream(name));
            case "suppress" -> table.suppress(step.suppressed());
            case "join" -> join(table, step);
            case "fkJoin" -> step.kind().equals("inner")
                ? table.join(right(), Pipeline::firstOrNull, PAIR, step.joined(), rows)
                : table.leftJoin(right(), Pipeline::firstOrNull, PAIR, step.joined(), rows);
            case "groupBy" -> group(table, step);
            default -> throw new UnsupportedOperationException("stage of a table " + step.action());
        };
    }

    private KTable<String, String> transformValues(KTable<String, String> table, Step step) {
        String[] stores = step.sees().equals("state") ? new String[] {step.state()} : new String[0];
        for (String name : stores) {
            builder.addStateStore(Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), TEXT, Serdes.Integer()));
        }
        return step.isKept()
            ? table.transformValues(() -> new RowTransformer(step.sees(), step.state()), step.rows(), step.named(), stores)
            : table.transformValues(() -> new RowTransformer(step.sees(), step.state()), step.named(), stores);
    }

    private KTable<String, String> join(KTable<String, String> table, Step step) {
        Named name = step.named();
        Materialized<String, String, KeyValueStore<Bytes, byte[]>> rows = step.rows();
        boolean kept = step.isKept();
        return switch (step.kind()) {
            case "inner" -> kept ? table.join(right(), PAIR, name, rows) : table.join(right(), PAIR, name);
            case "left" -> kept ? table.leftJoin(right(), PAIR, name, rows) : table.leftJoin(right(), PAIR, name);
            case "outer" -> kept ? table.outerJoin(right(), PAIR, name, rows) : table.outerJoin(right(), PAIR, name);
            default -> throw new UnsupportedOperationException("kind " + step.kind());
        };
    }

    private static KTable<String, String> group(KTable<String, String> table, Step step) {
        KGroupedTable<String, String> grouped = table.groupBy(
            (key, value) -> org.apache.kafka.streams.KeyValue.pair(rekey(step.by(), value), value), Grouped.with(step.name("group"), TEXT, TEXT));
        return switch (step.aggregate()) {
            case "count" -> grouped.count(step.named(), step.counts()).mapValues(String::valueOf);
            case "reduce" -> grouped.reduce((all, value) -> all + "+" + value, (all, value) -> all + "-" + value, step.named(), step.rows());
            case "aggregate" -> grouped.aggregate(
                () -> "0", (key, value, all) -> all + "+" + value, (key, value, all) -> all + "-" + value, step.named(), step.rows());
            default -> throw new UnsupportedOperationException("aggregate " + step.aggregate());
        };
    }

    /** The table of topic T, declared once. */
    KTable<String, String> right() {
        if (right == null) {
            right = Tables.table(builder, "T", definition.path("tableStore"), "right");
        }
        return right;
    }

    static String pair(String left, String right) {
        return "(" + left + "," + right + ")";
    }

    static boolean keeps(String value) {
        return value == null || value.length() % 2 == 1;
    }

    static String mark(String value) {
        return value == null ? null : value + "'";
    }

    static String rekey(String rule, String value) {
        return switch (rule) {
            case "value" -> value;
            case "first" -> firstOrNull(value) == null ? "-" : firstOrNull(value);
            case "length" -> value == null ? "none" : String.valueOf(value.length());
            default -> throw new UnsupportedOperationException("by " + rule);
        };
    }

    static String firstOrNull(String value) {
        return value == null || value.isEmpty() ? null : value.substring(0, 1);
    }

    /** One stage of a pipeline. */
    record Step(JsonNode stage, int index, boolean isNamed) {
        String action() {
            return stage.path("do").asText();
        }

        String kind() {
            return stage.path("kind").asText();
        }

        String by() {
            return stage.path("by").asText();
        }

        /** What the transformer of the stage looks at. */
        String sees() {
            return stage.path("sees").asText();
        }

        /** Name of the store that the transformer of the stage may use. */
        String state() {
            return "calls" + index;
        }

        String aggregate() {
            return stage.path("aggregate").asText();
        }

        boolean isKept() {
            return stage.path("kept").asBoolean() || stage.path("kept").isObject();
        }

        Duration millis(String field) {
            return Duration.ofMillis(stage.path(field).asLong(0));
        }

        /** null when the stages have no names. */
        String name() {
            return isNamed ? "s" + index : null;
        }

        String name(String suffix) {
            return isNamed ? name() + "-" + suffix : null;
        }

        TableJoined<String, String> joined() {
            return isNamed ? TableJoined.as(name()) : TableJoined.with(null, null);
        }

        Named named() {
            return isNamed ? Named.as(name()) : NamedInternal.empty();
        }

        Materialized<String, String, KeyValueStore<Bytes, byte[]>> rows() {
            if (versions() != null) {
                return Materialized.<String, String>as(versions()).withKeySerde(TEXT).withValueSerde(TEXT);
            }
            return isKept() ? Tables.rows("store" + index) : Materialized.with(TEXT, TEXT);
        }

        /** null when the stage keeps no versions. */
        private VersionedBytesStoreSupplier versions() {
            JsonNode history = stage.path("kept").path("versionedMs");
            return history.isMissingNode() ? null : Stores.persistentVersionedKeyValueStore("store" + index, Duration.ofMillis(history.asLong()));
        }

        Materialized<String, Long, KeyValueStore<Bytes, byte[]>> counts() {
            if (versions() != null) {
                return Materialized.<String, Long>as(versions()).withKeySerde(TEXT).withValueSerde(Serdes.Long());
            }
            return isKept()
                ? Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("store" + index).withKeySerde(TEXT).withValueSerde(Serdes.Long())
                : Materialized.with(TEXT, Serdes.Long());
        }

        Suppressed<Object> suppressed() {
            Suppressed<Object> suppressed = Suppressed.untilTimeLimit(millis("timeLimitMs"), Tables.buffer(stage.path("buffer")));
            return isNamed ? suppressed.withName(name()) : suppressed;
        }
    }
}
