package millrace.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** Source tables and buffers as definitions tell them. */
final class Tables {
    private static final Serde<String> TEXT = Serdes.String();

    private Tables() {}

    /** {@code store}: "kv" or absent, "none", or {"versionedMs": history}. */
    static KTable<String, String> table(StreamsBuilder builder, String topic, JsonNode store, String name) {
        Consumed<String, String> consumed = Consumed.with(TEXT, TEXT);
        if (store.has("versionedMs")) {
            Duration history = Duration.ofMillis(store.get("versionedMs").asLong());
            return builder.table(topic, consumed,
                Materialized.<String, String>as(Stores.persistentVersionedKeyValueStore(name, history)).withKeySerde(TEXT).withValueSerde(TEXT));
        }
        if (store.asText().equals("none")) {
            return builder.table(topic, consumed);
        }
        if (!store.isMissingNode() && !store.asText().equals("kv")) {
            throw new UnsupportedOperationException("store " + store);
        }
        return builder.table(topic, consumed, rows(name));
    }

    static Materialized<String, String, KeyValueStore<Bytes, byte[]>> rows(String name) {
        return Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(name).withKeySerde(TEXT).withValueSerde(TEXT).withCachingDisabled();
    }

    static BufferConfig<?> buffer(JsonNode buffer) {
        if (buffer.path("maxRecords").isNumber()) {
            return BufferConfig.maxRecords(buffer.get("maxRecords").asLong()).emitEarlyWhenFull();
        }
        return buffer.path("maxBytes").isNumber() ? BufferConfig.maxBytes(buffer.get("maxBytes").asLong()).emitEarlyWhenFull() : BufferConfig.unbounded();
    }
}
