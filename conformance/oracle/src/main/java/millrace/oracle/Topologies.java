package millrace.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.state.KeyValueStore;

/** The vocabulary of the cases in Java: the same operations as in ../../../../../../kafka-streams/topologies. */
final class Topologies {
    private static final Serde<String> TEXT = Serdes.String();
    private static final Consumed<String, String> CONSUMED = Consumed.with(TEXT, TEXT);
    private static final Produced<String, String> PRODUCED = Produced.with(TEXT, TEXT);

    private final StreamsBuilder builder;
    private final JsonNode definition;

    private Topologies(JsonNode definition, Properties config) {
        this.definition = definition;
        // Without it, Kafka Streams merges repartitions to above a processor that changes keys.
        config.put(TopologyConfig.InternalConfig.ENABLE_PROCESS_PROCESSVALUE_FIX, true);
        this.builder = new StreamsBuilder(new TopologyConfig(new StreamsConfig(config)));
    }

    /** Throws UnsupportedOperationException when something the definition needs is not here. */
    static Topology build(JsonNode definition, Properties config) {
        Topologies topologies = new Topologies(definition, config);
        topologies.declare();
        return topologies.builder.build(config);
    }

    private void declare() {
        String operation = definition.path("op").asText();
        switch (operation) {
            case "merge" -> stream("L").merge(stream("R")).to("OUT", PRODUCED);
            case "source-table" -> Tables.table(builder, "L", definition.path("tableStore"), "src").toStream().to("OUT", PRODUCED);
            case "stream-to-table" -> stream("L").toTable(rows("x")).toStream().to("OUT", PRODUCED);
            case "stream-repartition" -> stream("L").repartition(Repartitioned.with(TEXT, TEXT)).to("OUT", PRODUCED);
            case "stream-aggregate" -> streamAggregate();
            case "stream-stream-join" -> new JoinTopologies(builder, definition).streamStream();
            case "stream-table-join" -> new JoinTopologies(builder, definition).streamTable();
            case "table-table-join" -> new JoinTopologies(builder, definition).tableTable();
            case "table-table-fk-join" -> new JoinTopologies(builder, definition).foreignKey();
            case "stream-globaltable-join" -> streamGlobalTableJoin();
            case "window-aggregate" -> WindowTopologies.declare(stream("L").groupByKey(Grouped.with(TEXT, TEXT)), definition);
            case "cogroup" -> new TableTopologies(builder, definition).cogroup();
            case "table-filter" -> new TableTopologies(builder, definition).filter();
            case "table-groupby-aggregate" -> new TableTopologies(builder, definition).groupByAggregate();
            case "table-groupby-value-count-suppress" -> new TableTopologies(builder, definition).groupByValueCountSuppress();
            case "table-suppress-groupby-count" -> new TableTopologies(builder, definition).suppressGroupByCount();
            case "pipeline" -> new Pipeline(builder, definition).declare();
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

    private void streamGlobalTableJoin() {
        KStream<String, String> left = stream("L");
        GlobalKTable<String, String> right = builder.globalTable("R", CONSUMED, tableStore("gtbl"));
        (isInner()
            ? left.join(right, (key, value) -> afterComma(value), joiner())
            : left.leftJoin(right, (key, value) -> afterComma(value), joiner())).to("OUT", PRODUCED);
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
}
