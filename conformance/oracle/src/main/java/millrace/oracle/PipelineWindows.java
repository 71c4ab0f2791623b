package millrace.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.CogroupedKStream;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Merger;
import org.apache.kafka.streams.kstream.SessionWindowedKStream;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindowedKStream;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;

/** Windowed aggregations within a pipeline; their results go on as a stream of printed keys. */
final class PipelineWindows {
    private static final Merger<String, String> BOTH = (key, one, other) -> one + "&" + other;

    private PipelineWindows() {}

    static KStream<String, String> aggregate(KGroupedStream<String, String> grouped, Pipeline.Step step) {
        JsonNode window = step.stage().get("window");
        return switch (window.path("type").asText()) {
            case "session" -> results(sessions(grouped.windowedBy(sessionWindows(window)), step), step);
            case "sliding" -> results(windows(grouped.windowedBy(slidingWindows(window)), step), step);
            default -> results(windows(grouped.windowedBy(timeWindows(window)), step), step);
        };
    }

    static KStream<String, String> aggregate(CogroupedKStream<String, String> grouped, Pipeline.Step step) {
        JsonNode window = step.stage().get("window");
        return switch (window.path("type").asText()) {
            case "session" -> results(grouped.windowedBy(sessionWindows(window)).aggregate(() -> "0", BOTH, step.named(), sessionRows(step)), step);
            case "sliding" -> results(grouped.windowedBy(slidingWindows(window)).aggregate(() -> "0", step.named(), windowRows(step)), step);
            default -> results(grouped.windowedBy(timeWindows(window)).aggregate(() -> "0", step.named(), windowRows(step)), step);
        };
    }

    private static KTable<Windowed<String>, ?> windows(TimeWindowedKStream<String, String> windowed, Pipeline.Step step) {
        return switch (step.aggregate()) {
            case "count" -> windowed.count(step.named(), step.isKept()
                ? Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("store" + step.index()).withKeySerde(Pipeline.TEXT)
                : Materialized.with(Pipeline.TEXT, Serdes.Long()));
            case "reduce" -> windowed.reduce((all, value) -> all + "+" + value, step.named(), windowRows(step));
            default -> windowed.aggregate(() -> "0", (key, value, all) -> all + "+" + value, step.named(), windowRows(step));
        };
    }

    private static KTable<Windowed<String>, ?> sessions(SessionWindowedKStream<String, String> windowed, Pipeline.Step step) {
        return switch (step.aggregate()) {
            case "count" -> windowed.count(step.named(), step.isKept()
                ? Materialized.<String, Long, SessionStore<Bytes, byte[]>>as("store" + step.index()).withKeySerde(Pipeline.TEXT)
                : Materialized.with(Pipeline.TEXT, Serdes.Long()));
            case "reduce" -> windowed.reduce((all, value) -> all + "+" + value, step.named(), sessionRows(step));
            default -> windowed.aggregate(() -> "0", (key, value, all) -> all + "+" + value, BOTH, step.named(), sessionRows(step));
        };
    }

    private static <V> KStream<String, String> results(KTable<Windowed<String>, V> table, Pipeline.Step step) {
        KTable<Windowed<String>, V> results = table;
        if (step.stage().path("suppress").asBoolean()) {
            Suppressed<Windowed<?>> closed = Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded());
            results = table.suppress(step.isNamed() ? closed.withName(step.name("suppress")) : closed);
        }
        return results.toStream().map((key, value) -> KeyValue.pair(key.toString(), value == null ? null : value.toString()));
    }

    private static Materialized<String, String, WindowStore<Bytes, byte[]>> windowRows(Pipeline.Step step) {
        return step.isKept()
            ? Materialized.<String, String, WindowStore<Bytes, byte[]>>as("store" + step.index()).withKeySerde(Pipeline.TEXT).withValueSerde(Pipeline.TEXT)
            : Materialized.with(Pipeline.TEXT, Pipeline.TEXT);
    }

    private static Materialized<String, String, SessionStore<Bytes, byte[]>> sessionRows(Pipeline.Step step) {
        return step.isKept()
            ? Materialized.<String, String, SessionStore<Bytes, byte[]>>as("store" + step.index()).withKeySerde(Pipeline.TEXT).withValueSerde(Pipeline.TEXT)
            : Materialized.with(Pipeline.TEXT, Pipeline.TEXT);
    }

    private static TimeWindows timeWindows(JsonNode window) {
        TimeWindows windows = TimeWindows.ofSizeAndGrace(millis(window, "sizeMs"), millis(window, "graceMs"));
        return window.has("advanceMs") ? windows.advanceBy(millis(window, "advanceMs")) : windows;
    }

    private static SlidingWindows slidingWindows(JsonNode window) {
        return SlidingWindows.ofTimeDifferenceAndGrace(millis(window, "timeDifferenceMs"), millis(window, "graceMs"));
    }

    private static SessionWindows sessionWindows(JsonNode window) {
        return SessionWindows.ofInactivityGapAndGrace(millis(window, "gapMs"), millis(window, "graceMs"));
    }

    private static Duration millis(JsonNode window, String field) {
        return Duration.ofMillis(window.path(field).asLong(0));
    }
}
