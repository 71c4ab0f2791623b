package millrace.oracle;

import org.apache.kafka.streams.kstream.ValueTransformerWithKey;
import org.apache.kafka.streams.processor.ProcessorContext;
import org.apache.kafka.streams.state.KeyValueStore;

/** What {@code transformValues} calls: it sees "rows" and leaves deleted ones alone, sees "deleted" ones too, or numbers its calls by key in a "state". */
final class RowTransformer implements ValueTransformerWithKey<String, String, String> {
    private final String sees;
    private final String state;
    private KeyValueStore<String, Integer> calls;

    RowTransformer(String sees, String state) {
        this.sees = sees;
        this.state = state;
    }

    @Override
    public void init(ProcessorContext context) {
        if (sees.equals("state")) {
            calls = context.getStateStore(state);
        }
    }

    @Override
    public String transform(String key, String value) {
        if (sees.equals("deleted") && value == null) {
            return "gone";
        }
        if (!sees.equals("state")) {
            return value == null ? null : value + "~";
        }
        Integer before = calls.get(key);
        int call = before == null ? 1 : before + 1;
        calls.put(key, call);
        return value == null ? null : value + "#" + call;
    }

    @Override
    public void close() {}
}
