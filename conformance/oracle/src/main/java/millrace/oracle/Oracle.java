package millrace.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;

/**
 * Writes into case files what Kafka Streams gives for their steps: {@code out} of each step, and {@code droppedRecordsTotal} where the
 * case asks for it. Arguments: a folder for state, then the files. Cases of operations that this oracle lacks stay as they are and are named.
 */
public final class Oracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Oracle() {}

    public static void main(String[] arguments) throws Exception {
        Path stateFolder = Path.of(arguments[0]);
        int recorded = 0;
        for (int i = 1; i < arguments.length; i++) {
            Path file = Path.of(arguments[i]);
            JsonNode document = JSON.readTree(file.toFile());
            boolean changed = false;
            for (JsonNode entry : document.path("cases")) {
                if (!entry.has("steps") || !entry.has("topology")) {
                    continue;
                }
                try {
                    new CaseRecorder(stateFolder).record((ObjectNode) entry);
                    changed = true;
                    recorded++;
                } catch (UnsupportedOperationException missing) {
                    System.err.println(file.getFileName() + ": " + entry.path("name").asText() + " is not recorded: " + missing.getMessage());
                }
            }
            if (changed) {
                JSON.writeValue(file.toFile(), document);
            }
        }
        System.out.println(recorded + " cases recorded");
    }
}
