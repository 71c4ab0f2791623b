package millrace.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindowedKStream;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindowedKStream;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;

/** The operation `window-aggregate`, with every kind of window. */
final class WindowTopologies {
    private static final Serde<String> TEXT = Serdes.String();

    private final JsonNode definition;
    private final JsonNode window;
    private final EmitStrategy emit;

    private WindowTopologies(JsonNode definition) {
        this.definition = definition;
        this.window = definition.get("window");
        boolean finalOnly = definition.path("emit").asText().equals("close");
        this.emit = finalOnly ? EmitStrategy.onWindowClose() : EmitStrategy.onWindowUpdate();
    }

    static void declare(KGroupedStream<String, String> grouped, JsonNode definition) {
        WindowTopologies topologies = new WindowTopologies(definition);
        switch (topologies.window.path("type").asText()) {
            case "session" -> topologies.write(grouped.windowedBy(
                SessionWindows.ofInactivityGapAndGrace(topologies.millis("gapMs"), topologies.millis("graceMs"))).emitStrategy(topologies.emit));
            case "sliding" -> topologies.write(grouped.windowedBy(
                SlidingWindows.ofTimeDifferenceAndGrace(topologies.millis("timeDifferenceMs"), topologies.millis("graceMs"))).emitStrategy(topologies.emit));
            case "time" -> topologies.write(grouped.windowedBy(topologies.timeWindows()).emitStrategy(topologies.emit));
            default -> throw new UnsupportedOperationException("windows " + topologies.window);
        }
    }

    private TimeWindows timeWindows() {
        TimeWindows windows = TimeWindows.ofSizeAndGrace(millis("sizeMs"), millis("graceMs"));
        return window.has("advanceMs") ? windows.advanceBy(millis("advanceMs")) : windows;
    }

    private void write(TimeWindowedKStream<String, String> windowed) {
        Materialized<String, String, WindowStore<Bytes, byte[]>> rows =
            Materialized.<String, String, WindowStore<Bytes, byte[]>>as("st").withValueSerde(TEXT).withCachingDisabled();
        switch (definition.path("aggregate").asText()) {
            case "count" -> writeTable(windowed.count(Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("st").withCachingDisabled()));
            case "reduce+" -> writeTable(windowed.reduce((all, value) -> all + "+" + value, rows));
            case "aggregate''+" -> writeTable(windowed.aggregate(() -> "", (key, value, all) -> all + "+" + value, rows));
            default -> writeTable(windowed.aggregate(() -> "0", (key, value, all) -> all + "+" + value, rows));
        }
    }

    private void write(SessionWindowedKStream<String, String> windowed) {
        Materialized<String, String, SessionStore<Bytes, byte[]>> rows =
            Materialized.<String, String, SessionStore<Bytes, byte[]>>as("st").withValueSerde(TEXT).withCachingDisabled();
        switch (definition.path("aggregate").asText()) {
            case "count" -> writeTable(windowed.count(Materialized.<String, Long, SessionStore<Bytes, byte[]>>as("st").withCachingDisabled()));
            case "reduce+" -> writeTable(windowed.reduce((all, value) -> all + "+" + value, rows));
            default -> writeTable(windowed.aggregate(
                () -> "0", (key, value, all) -> all + "+" + value, (key, one, other) -> one + "+" + other, rows));
        }
    }

    private <V> void writeTable(KTable<Windowed<String>, V> table) {
        if (definition.path("suppress").asText().equals("until-window-closes")) {
            writeTo("SUPPRESSED", table.suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded())));
        }
        writeTo("OUT", table);
    }

    private static <V> void writeTo(String topic, KTable<Windowed<String>, V> table) {
        table.toStream().map((key, value) -> KeyValue.pair(key.toString(), value == null ? null : value.toString()))
            .to(topic, Produced.with(TEXT, TEXT));
    }

    private Duration millis(String field) {
        return Duration.ofMillis(window.path(field).asLong(0));
    }
}
