package millrace.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Branched;
import org.apache.kafka.streams.kstream.CogroupedKStream;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.kstream.internals.NamedInternal;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** The stages of a pipeline that are done on streams. */
final class PipelineStreams {
    private static final ValueJoiner<String, String, String> PAIR = Pipeline::pair;

    private final StreamsBuilder builder;
    private final Pipeline pipeline;
    private KStream<String, String> stream;
    private KStream<String, String> other;
    private GlobalKTable<String, String> global;

    PipelineStreams(StreamsBuilder builder, Pipeline pipeline) {
        this.builder = builder;
        this.pipeline = pipeline;
    }

    void start() {
        stream = builder.stream("L", Pipeline.CONSUMED);
    }

    KStream<String, String> current() {
        return stream;
    }

    KTable<String, String> continueWith(KStream<String, String> next) {
        stream = next;
        return null;
    }

    /** The table that the stage leaves; null when it leaves a stream. */
    KTable<String, String> apply(Pipeline.Step step) {
        Named name = step.named();
        return switch (step.action()) {
            case "filter" -> continueWith(stream.filter((k, v) -> Pipeline.keeps(v), name));
            case "filterNot" -> continueWith(stream.filterNot((k, v) -> Pipeline.keeps(v), name));
            case "mapValues" -> continueWith(stream.mapValues(v -> Pipeline.mark(v), name));
            case "map" -> continueWith(stream.map((k, v) -> KeyValue.pair(Pipeline.rekey(step.by(), v), Pipeline.mark(k)), name));
            case "flatMapValues" -> continueWith(stream.flatMapValues(v -> v == null ? List.of() : List.of(v, v + "*"), name));
            case "flatMap" -> continueWith(stream.flatMap((k, v) -> v == null ? List.of() : List.of(KeyValue.pair(k, v), KeyValue.pair(v, v)), name));
            case "selectKey" -> continueWith(stream.selectKey((k, v) -> Pipeline.rekey(step.by(), v), name));
            case "peek" -> continueWith(stream.peek((k, v) -> { }, name));
            case "tee" -> tee();
            case "merge" -> continueWith(stream.merge(other(), name));
            case "branch" -> continueWith(branch(step));
            case "repartition" -> continueWith(stream.repartition(step.isNamed()
                ? Repartitioned.with(Pipeline.TEXT, Pipeline.TEXT).withName(step.name())
                : Repartitioned.with(Pipeline.TEXT, Pipeline.TEXT)));
            case "process" -> continueWith(process(step));
            case "punctuate" -> continueWith(tick(step));
            case "join" -> continueWith(join(step));
            case "tableJoin" -> continueWith(tableJoin(step));
            case "globalJoin" -> continueWith(step.kind().equals("inner")
                ? stream.join(global(), (k, v) -> Pipeline.firstOrNull(v), PAIR, name)
                : stream.leftJoin(global(), (k, v) -> Pipeline.firstOrNull(v), PAIR, name));
            case "toTable" -> stream.toTable(name, step.rows());
            case "aggregate" -> aggregate(stream.groupByKey(Grouped.with(step.name("group"), Pipeline.TEXT, Pipeline.TEXT)), step);
            case "groupBy" -> aggregate(
                stream.groupBy((k, v) -> Pipeline.rekey(step.by(), v), Grouped.with(step.name("group"), Pipeline.TEXT, Pipeline.TEXT)), step);
            case "cogroup" -> cogroup(step);
            default -> throw new UnsupportedOperationException("stage of a stream " + step.action());
        };
    }

    private KTable<String, String> tee() {
        stream.to("OUT", Produced.with(Pipeline.TEXT, Pipeline.TEXT));
        return null;
    }

    private KStream<String, String> branch(Pipeline.Step step) {
        Map<String, KStream<String, String>> branches = stream.split(step.isNamed() ? Named.as(step.name("")) : NamedInternal.empty())
            .branch((k, v) -> v != null && v.length() % 3 == 0, Branched.as("thirds"))
            .branch((k, v) -> Pipeline.keeps(v), Branched.as("odd"))
            .defaultBranch(Branched.as("rest"));
        List<KStream<String, String>> inOrder = new ArrayList<>();
        for (String branch : List.of("thirds", "odd", "rest")) {
            branches.forEach((key, value) -> {
                if (key.endsWith(branch)) {
                    inOrder.add(value);
                }
            });
        }
        return inOrder.get(0).mapValues(v -> v + "a").merge(inOrder.get(1)).merge(inOrder.get(2).mapValues(v -> v + "c"));
    }

    private KStream<String, String> process(Pipeline.Step step) {
        String store = "previous" + step.index();
        builder.addStateStore(Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(store), Pipeline.TEXT, Pipeline.TEXT));
        return step.isNamed()
            ? stream.process(() -> new Remembering(store), step.named(), store)
            : stream.process(() -> new Remembering(store), store);
    }

    private KStream<String, String> tick(Pipeline.Step step) {
        long every = step.millis("everyMs").toMillis();
        return step.isNamed() ? stream.process(() -> new Ticking(every), step.named()) : stream.process(() -> new Ticking(every));
    }

    private KStream<String, String> join(Pipeline.Step step) {
        JoinWindows windows = JoinWindows.ofTimeDifferenceAndGrace(step.millis("beforeMs"), step.millis("graceMs")).after(step.millis("afterMs"));
        StreamJoined<String, String, String> joined = StreamJoined.with(Pipeline.TEXT, Pipeline.TEXT, Pipeline.TEXT);
        if (step.isNamed()) {
            joined = joined.withName(step.name());
        }
        if (step.isKept()) {
            joined = joined.withStoreName("store" + step.index());
        }
        return switch (step.kind()) {
            case "inner" -> stream.join(other(), PAIR, windows, joined);
            case "left" -> stream.leftJoin(other(), PAIR, windows, joined);
            case "outer" -> stream.outerJoin(other(), PAIR, windows, joined);
            default -> throw new UnsupportedOperationException("kind " + step.kind());
        };
    }

    private KStream<String, String> tableJoin(Pipeline.Step step) {
        Joined<String, String, String> joined = Joined.with(Pipeline.TEXT, Pipeline.TEXT, Pipeline.TEXT, step.name());
        if (step.stage().has("graceMs")) {
            joined = joined.withGracePeriod(step.millis("graceMs"));
        }
        KTable<String, String> right = pipeline.right();
        return step.kind().equals("inner") ? stream.join(right, PAIR, joined) : stream.leftJoin(right, PAIR, joined);
    }

    private KTable<String, String> aggregate(KGroupedStream<String, String> grouped, Pipeline.Step step) {
        if (step.stage().has("window")) {
            stream = PipelineWindows.aggregate(grouped, step);
            return null;
        }
        return switch (step.aggregate()) {
            case "count" -> grouped.count(step.named(), step.counts()).mapValues(v -> String.valueOf(v));
            case "reduce" -> grouped.reduce((all, value) -> all + "+" + value, step.named(), step.rows());
            case "aggregate" -> grouped.aggregate(() -> "0", (key, value, all) -> all + "+" + value, step.named(), step.rows());
            default -> throw new UnsupportedOperationException("aggregate " + step.aggregate());
        };
    }

    private KTable<String, String> cogroup(Pipeline.Step step) {
        KGroupedStream<String, String> one = stream.groupByKey(Grouped.with(step.name("one"), Pipeline.TEXT, Pipeline.TEXT));
        KGroupedStream<String, String> two = other().groupByKey(Grouped.with(step.name("two"), Pipeline.TEXT, Pipeline.TEXT));
        CogroupedKStream<String, String> both = one.<String>cogroup((key, value, all) -> all + "+" + value)
            .cogroup(two, (key, value, all) -> all + "-" + value);
        if (step.stage().has("window")) {
            stream = PipelineWindows.aggregate(both, step);
            return null;
        }
        return both.aggregate(() -> "0", step.named(), step.rows());
    }

    /** The stream of topic R, declared once. */
    private KStream<String, String> other() {
        if (other == null) {
            other = builder.stream("R", Pipeline.CONSUMED);
        }
        return other;
    }

    private GlobalKTable<String, String> global() {
        if (global == null) {
            global = builder.globalTable("G", Pipeline.CONSUMED, Tables.rows("global"));
        }
        return global;
    }

    /** Adds to each value the one before it of the same key. */
    private static final class Remembering implements Processor<String, String, String, String> {
        private final String name;
        private ProcessorContext<String, String> context;
        private KeyValueStore<String, String> store;

        Remembering(String name) {
            this.name = name;
        }

        @Override
        public void init(ProcessorContext<String, String> given) {
            context = given;
            store = given.getStateStore(name);
        }

        @Override
        public void process(Record<String, String> record) {
            if (record.key() == null) {
                context.forward(record);
                return;
            }
            String before = store.get(record.key());
            store.put(record.key(), record.value());
            context.forward(record.withValue(record.value() + "<" + before));
        }
    }

    /** Passes records on, and a tick whenever stream time has moved on by so much. */
    private static final class Ticking implements Processor<String, String, String, String> {
        private final long every;
        private ProcessorContext<String, String> context;

        Ticking(long every) {
            this.every = every;
        }

        @Override
        public void init(ProcessorContext<String, String> given) {
            context = given;
            given.schedule(java.time.Duration.ofMillis(every), PunctuationType.STREAM_TIME,
                time -> context.forward(new Record<>("tick", String.valueOf(time), time)));
        }

        @Override
        public void process(Record<String, String> record) {
            context.forward(record);
        }
    }
}
