package millrace.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.test.TestRecord;

/** Runs one case through Kafka Streams' own test driver and writes the results into it. */
final class CaseRecorder {
    private final Path stateFolder;

    CaseRecorder(Path stateFolder) {
        this.stateFolder = stateFolder;
    }

    void record(ObjectNode entry) throws IOException {
        Path state = Files.createTempDirectory(stateFolder, "case");
        Properties config = config(state, entry.get("topology"));
        Topology topology = Topologies.build(entry.get("topology"), config);
        if (entry.has("describe")) {
            entry.put("describe", topology.describe().toString());
        }
        try (TopologyTestDriver driver = new TopologyTestDriver(topology, config)) {
            Map<String, TestInputTopic<String, String>> inputs = new HashMap<>();
            boolean suppresses = suppresses(entry.get("topology"));
            for (JsonNode step : entry.get("steps")) {
                for (JsonNode row : step.get("in")) {
                    inputs.computeIfAbsent(row.get(0).asText(), topic -> driver.createInputTopic(topic, new StringSerializer(), new StringSerializer()))
                        .pipeInput(textOrNull(row.get(1)), textOrNull(row.get(2)), row.get(3).asLong());
                }
                write(driver, "OUT", ((ObjectNode) step).putArray("out"));
                if (suppresses) {
                    write(driver, "SUPPRESSED", ((ObjectNode) step).putArray("suppressed"));
                }
            }
            if (entry.has("droppedRecordsTotal")) {
                entry.put("droppedRecordsTotal", droppedRecords(driver));
            }
        } finally {
            delete(state);
        }
    }

    /** Whether the topology has the topic SUPPRESSED. */
    private static boolean suppresses(JsonNode definition) {
        return definition.has("suppress") || definition.path("op").asText().equals("table-groupby-value-count-suppress");
    }

    private static void write(TopologyTestDriver driver, String topic, ArrayNode rows) {
        TestOutputTopic<String, String> output = driver.createOutputTopic(topic, new StringDeserializer(), new StringDeserializer());
        for (TestRecord<String, String> row : output.readRecordsToList()) {
            rows.addArray().add(row.key()).add(row.value()).add(row.timestamp());
        }
    }

    private static int droppedRecords(TopologyTestDriver driver) {
        return (int) driver.metrics().entrySet().stream()
            .filter(metric -> metric.getKey().name().equals("dropped-records-total"))
            .mapToDouble(metric -> ((Number) metric.getValue().metricValue()).doubleValue())
            .sum();
    }

    private static Properties config(Path state, JsonNode definition) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "oracle");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "nowhere:1");
        config.put(StreamsConfig.STATE_DIR_CONFIG, state.toString());
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "0");
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class.getName());
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class.getName());
        definition.path("config").fields().forEachRemaining(entry -> config.put(entry.getKey(), entry.getValue().asText()));
        return config;
    }

    private static String textOrNull(JsonNode value) {
        return value.isNull() ? null : value.asText();
    }

    private static void delete(Path folder) throws IOException {
        List<File> files;
        try (Stream<Path> paths = Files.walk(folder)) {
            files = paths.sorted(Comparator.reverseOrder()).map(Path::toFile).toList();
        }
        for (File file : files) {
            Files.deleteIfExists(file.toPath());
        }
    }
}
