package millrace.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Writes into cases what Kafka Streams gives for their steps: {@code out} of each step, and {@code droppedRecordsTotal} and {@code describe} where the
 * case asks for them. Arguments: a folder for state, then the files. Cases of operations that this oracle lacks stay as they are and are named.
 * Without files it answers cases, one a line, with lines: {@code {"recorded": case}} or {@code {"failed": why}}.
 */
public final class Oracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Oracle() {}

    public static void main(String[] arguments) throws Exception {
        CaseRecorder recorder = new CaseRecorder(Path.of(arguments[0]));
        if (arguments.length == 1) {
            answer(recorder);
            return;
        }
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
                    recorder.record((ObjectNode) entry);
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

    private static void answer(CaseRecorder recorder) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            ObjectNode entry = (ObjectNode) JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            try {
                recorder.record(entry);
                answer.set("recorded", entry);
            } catch (RuntimeException | IOException failure) {
                answer.put("failed", causes(failure));
            }
            answers.println(JSON.writeValueAsString(answer));
        }
    }

    private static String causes(Throwable failure) {
        StringBuilder text = new StringBuilder(failure.toString());
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            text.append("; caused by ").append(cause);
        }
        return text.toString();
    }
}
