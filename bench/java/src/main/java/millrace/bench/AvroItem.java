package millrace.bench;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;

/**
 * The value of the Avro rows: five bytes that name the schema, then the record. The schema is known, so the five bytes are passed over without a
 * look at a registry, which spares this side a look-up in a map.
 */
final class AvroItem {
    private static final int HEADER_BYTES = 5;
    private static final Schema SCHEMA = SchemaBuilder.record("Item").namespace("millrace.bench").fields()
        .requiredString("item")
        .requiredInt("amount")
        .requiredString("note")
        .endRecord();

    static Serde<GenericRecord> serde() {
        GenericDatumReader<GenericRecord> reader = new GenericDatumReader<>(SCHEMA);
        GenericDatumWriter<GenericRecord> writer = new GenericDatumWriter<>(SCHEMA);
        BinaryDecoder[] decoder = new BinaryDecoder[1];
        BinaryEncoder[] encoder = new BinaryEncoder[1];
        return Serdes.serdeFrom(
            (topic, item) -> {
                if (item == null) return null;
                ByteArrayOutputStream out = new ByteArrayOutputStream(128);
                out.write(new byte[HEADER_BYTES], 0, HEADER_BYTES);
                try {
                    encoder[0] = EncoderFactory.get().binaryEncoder(out, encoder[0]);
                    writer.write(item, encoder[0]);
                    encoder[0].flush();
                } catch (IOException error) {
                    throw new SerializationException(error);
                }
                return out.toByteArray();
            },
            (topic, bytes) -> {
                if (bytes == null) return null;
                try {
                    decoder[0] = DecoderFactory.get().binaryDecoder(bytes, HEADER_BYTES, bytes.length - HEADER_BYTES, decoder[0]);
                    return reader.read(null, decoder[0]);
                } catch (IOException error) {
                    throw new SerializationException(error);
                }
            });
    }

    private AvroItem() {}
}
