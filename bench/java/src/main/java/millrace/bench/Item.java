package millrace.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.IOException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;

/** The value of the JSON rows, bound by Jackson as a Java service would bind it. */
record Item(String item, int amount, String note) {
    Item withOneMore() {
        return new Item(item, amount + 1, note);
    }

    static Serde<Item> serde() {
        ObjectMapper mapper = new ObjectMapper();
        ObjectReader reader = mapper.readerFor(Item.class);
        ObjectWriter writer = mapper.writerFor(Item.class);
        return Serdes.serdeFrom(
            (topic, item) -> {
                try {
                    return item == null ? null : writer.writeValueAsBytes(item);
                } catch (JsonProcessingException error) {
                    throw new SerializationException(error);
                }
            },
            (topic, bytes) -> {
                try {
                    return bytes == null ? null : reader.readValue(bytes);
                } catch (IOException error) {
                    throw new SerializationException(error);
                }
            });
    }
}
