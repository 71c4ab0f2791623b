import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes transactions with Kafka's own producer and prints what Kafka's own consumer reads of them.
 *
 * Arguments: bootstrap servers, partitions, seed, then pairs of topic and codec. In each topic three producers work at the same time: transactions that are committed
 * and aborted lie among one another on every partition, and one is left open. A line a record: topic, isolation, partition, offset, timestamp, key, value, headers.
 */
class Transactions {
    private static final int TRANSACTIONS = 40;

    public static void main(String[] args) {
        int partitions = Integer.parseInt(args[1]);
        Random random = new Random(Long.parseLong(args[2]));
        List<String> topics = new ArrayList<>();
        for (int i = 3; i < args.length; i += 2) {
            topics.add(args[i]);
            write(args[0], args[i], args[i + 1], partitions, random);
        }
        for (String isolation : List.of("read_committed", "read_uncommitted")) read(args[0], isolation, topics, partitions);
        System.out.flush();
        // A producer that is closed ends its transaction.
        Runtime.getRuntime().halt(0);
    }

    private static void write(String servers, String topic, String codec, int partitions, Random random) {
        List<KafkaProducer<byte[], byte[]>> producers = IntStream.range(0, 3).mapToObj(i -> producer(servers, topic + "-" + i, codec)).toList();
        boolean[] open = new boolean[producers.size()];
        int ended = 0;
        while (ended < TRANSACTIONS) {
            int which = random.nextInt(producers.size());
            KafkaProducer<byte[], byte[]> producer = producers.get(which);
            if (!open[which]) producer.beginTransaction();
            open[which] = true;
            for (int i = random.nextInt(6); i >= 0; i--) producer.send(record(topic, random.nextInt(partitions), random));
            producer.flush();
            if (random.nextInt(3) > 0) continue;
            if (random.nextBoolean()) producer.commitTransaction();
            else producer.abortTransaction();
            open[which] = false;
            ended++;
        }
        for (int i = 1; i < producers.size(); i++) if (open[i]) producers.get(i).abortTransaction();
        if (!open[0]) producers.get(0).beginTransaction();
        producers.get(0).send(record(topic, 0, random));
        producers.get(0).flush();
        producers.get(1).beginTransaction();
        for (int i = 0; i < partitions; i++) producers.get(1).send(record(topic, i, random));
        producers.get(1).commitTransaction();
    }

    private static KafkaProducer<byte[], byte[]> producer(String servers, String id, String codec) {
        Properties config = new Properties();
        config.putAll(Map.of(
            "bootstrap.servers", servers, "transactional.id", id, "compression.type", codec, "transaction.timeout.ms", "600000", "linger.ms", "2"));
        KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
        return producer;
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, int partition, Random random) {
        RecordHeaders headers = new RecordHeaders();
        for (int i = random.nextInt(3); i > 0; i--) headers.add("h" + random.nextInt(3), bytes(random));
        long timestamp = 1_700_000_000_000L + random.nextInt(1_000_000) - 500_000;
        return new ProducerRecord<>(topic, partition, timestamp, bytes(random), bytes(random), headers);
    }

    /** Null, empty, or up to 60 bytes, half of them alike. */
    private static byte[] bytes(Random random) {
        if (random.nextInt(8) == 0) return null;
        byte[] bytes = new byte[random.nextInt(60)];
        random.nextBytes(bytes);
        for (int i = 0; i < bytes.length / 2; i++) bytes[i] = 7;
        return bytes;
    }

    private static void read(String servers, String isolation, List<String> topics, int partitions) {
        Properties config = new Properties();
        config.putAll(Map.of("bootstrap.servers", servers, "isolation.level", isolation));
        List<TopicPartition> all = topics.stream().flatMap(topic -> IntStream.range(0, partitions).mapToObj(i -> new TopicPartition(topic, i))).toList();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            while (all.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition)))
                consumer.poll(Duration.ofMillis(100)).forEach(record -> print(isolation, record));
        }
    }

    private static void print(String isolation, ConsumerRecord<byte[], byte[]> record) {
        StringBuilder headers = new StringBuilder();
        for (Header header : record.headers()) headers.append(header.key()).append('=').append(hex(header.value())).append(';');
        System.out.println(String.join(" ", record.topic(), isolation, "" + record.partition(), "" + record.offset(), "" + record.timestamp(),
            hex(record.key()), hex(record.value()), "[" + headers + "]"));
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? "null" : "x" + HexFormat.of().formatHex(bytes);
    }
}
