package millrace.bench;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Arguments of the form {@code --name value}. */
final class Options {
    private final Map<String, String> values = new HashMap<>();

    static Options parse(String[] arguments) {
        Options options = new Options();
        for (int i = 0; i + 1 < arguments.length; i += 2) options.values.put(arguments[i].substring(2), arguments[i + 1]);
        return options;
    }

    String text(String name) {
        String value = values.get(name);
        if (value == null) throw new IllegalArgumentException("--" + name + " is missing");
        return value;
    }

    boolean isYes(String name) {
        return "yes".equals(values.get(name));
    }

    void ifGiven(String name, Consumer<String> use) {
        String value = values.get(name);
        if (value != null) use.accept(value);
    }

    long number(String name, long otherwise) {
        String value = values.get(name);
        return value == null ? otherwise : Long.parseLong(value);
    }
}
