/** What a stream processor with Flink's semantics has to do, rule by rule, and where that is tested: a file, and the name of a test or case in it. */
export type RuleTest = readonly [file: string, name: string];

const dsl = 'test/dsl/event-time.test.ts';
const across = 'test/dsl/event-time-repartition.test.ts';
const harness = 'test/testing/test-harness.test.ts';
const broadcast = 'test/dsl/broadcast.test.ts';
const kills = 'integration-tests/event-time/event-time.test.ts';
const epochKills = 'integration-tests/exactly-once/kill.test.ts';
const restores = 'integration-tests/restore/restore.test.ts';
const transactions = 'integration-tests/transactions/transactional-producer.test.ts';
const keyedState = 'test/processors/state/keyed-state.test.ts';
const alignment = 'test/time/watermarks/source-watermarks.test.ts';
const seeds = 'conformance/cases/flink/seed-examples.json';
const windowCases = 'conformance/cases/flink/window-operator.json';
const ttlCases = 'conformance/cases/flink/ttl.json';
const timerCases = 'conformance/cases/flink/timers.json';

export const flinkRules: Readonly<Record<string, readonly RuleTest[]>> = {
  // The engine
  'a crash after two of three readings restores sum 42 and count 2 with the position: the mean is 22, never 24': [
    [kills, 'go on with the state that belongs to the position: 42/2 and 24 make 66/3'],
    [harness, 'holds open windows: 42/2 before it, 66/3 after the third reading'],
  ],
  'state, positions and results have one recoverable boundary, at every step of the commit': [
    [epochKills, 'at each step of an epoch and of a start'],
  ],
  'bounded input gives the same results whether it ends or goes on': [
    [across, 'has an end with a bounded input: every window behind it closes'],
    ['test/app/run-until-end.test.ts', 'processes what is there, tells every window once'],
  ],
  'source, keyBy, window, aggregate and sink are one pipeline': [[dsl, 'give the mean of a minute once']],
  'each key is owned by one task, wherever its records were read': [
    ['test/testing/topology-test-driver.test.ts', 'spreads keys over partitions as Kafka does, and groups them in one task each'],
  ],
  'an aggregate in two stages merges sums and counts, never means': [
    ['test/dsl/two-stage.test.ts', 'keeps sums and counts, never means of means'],
    [seeds, '"mean-of-means"'],
  ],
  'keyBy routes and does not order': [
    [across, 'are the same for input shuffled within the bound as for sorted input, across a repartition too'],
  ],
  'operators of one task call each other directly; keyBy ends the chain': [
    ['test/dsl/descriptions.test.ts', 'descriptions as of Kafka Streams'],
  ],
  'the plan shows operators, chains and exchanges': [[broadcast, 'is shown in the description']],

  // State
  'a field of a processor is not restored; declared state is': [
    [harness, 'has what was declared as state, and nothing that a processor keeps for itself'],
  ],
  'an update for one key changes no other; what was read is a copy': [
    [keyedState, 'belongs to the current key, and is there again after a restart'],
    [keyedState, 'is not changed through what was read or written'],
  ],
  'a state name given twice is an error when the topology is built': [[dsl, 'must declare their states, each name once']],
  'operator state is dealt out by its rule: even split, union, one copy each': [
    ['test/rebalance/operator-state.test.ts', 'as a list goes to the instances once, in parts that differ by one at most'],
    ['test/rebalance/operator-state.test.ts', 'as a union list goes to each instance whole'],
    ['test/rebalance/operator-state.test.ts', 'as broadcast state is copied to each'],
    ['test/dsl/operator-state.test.ts', 'is split or united: from %d to %d'],
    ['conformance/cases/flink/operator-state.json', '"evenSplit"'],
  ],
  'broadcast state is the same in every task, and exactly once with the data': [
    [broadcast, 'brings every record to every task, whatever the key'],
    [
      'integration-tests/event-time/broadcast.test.ts',
      'every task takes every rule once and with its data, and keeps its own list, whoever is killed meanwhile',
    ],
  ],
  'only the state of the current key can be reached': [
    [dsl, 'see the state of the current key alone'],
    [broadcast, 'comes without state and timers of a key'],
  ],
  'key groups have contiguous ranges per instance, and never split': [
    ['conformance/cases/flink/key-groups.json', '"rangePerOperatorIndex"'],
    ['test/rebalance/key-groups.test.ts', 'are never split: there are no more instances than groups'],
    [seeds, '"key-group-rescale"'],
  ],
  'the placing of keys is fixed for the life of the state; a change is refused': [
    ['test/app/internal-topics.test.ts', 'tell how state came to another count, and the way out'],
    ['test/runtime/task-plans.test.ts', 'of another count than that of the state are found, also when partitions come while the app runs'],
  ],
  'equal keys in two operators have separate state': [[harness, 'two operators keep apart what they hold of one key']],
  'engines are exchanged without a change of code': [['test/stores/key-value-store.test.ts', "describe.each(['memory', 'leveldb']"]],
  'a lost local disk is restored from the durable copy': [[restores, 'on another machine reads the changelog whole']],
  'after a crash only what is missing is read': [[restores, 'after kill -9 reads only the tail of the changelog']],
  'an aggregated window grows with keys and windows, not with records': [
    ['test/processors/windowing/window-engine.test.ts', 'keeps one accumulator a window, however many records come'],
  ],
  'a window that ends clears its contents; clear takes what its function kept': [
    ['test/processors/windowing/window-engine.test.ts', 'lets the function clear what it kept of the window'],
    [harness, 'a window that has ended leaves neither state nor timers'],
  ],
  'a value expires when its last update is a time to live ago, to the millisecond; downtime counts': [
    [ttlCases, '"boundary-expires-when-now>=ts+ttl"'],
    [ttlCases, '"ttl-timestamp-is-part-of-state-and-counts-downtime"'],
    [keyedState, 'ages while nothing runs'],
  ],
  'update types and visibility of a time to live': [
    [ttlCases, '"exact-on-write"'],
    [ttlCases, '"relaxed-on-write-returns-expired-once"'],
    [ttlCases, '"relaxed-on-read"'],
    [seeds, '"ttl-example"'],
  ],
  'lists expire by element, maps by entry': [
    [ttlCases, '"list-per-element"'],
    [ttlCases, '"map-on-read-refreshes-read-entry-only"'],
  ],
  'timers are a set, fire in order, can be deleted and are part of the state': [
    [timerCases, '"same key and timestamp deduplicated; different key not"'],
    [timerCases, '"delete before firing"'],
    [timerCases, '"timers survive snapshot and restore; overdue proc timers fire after restore"'],
    [kills, 'fire once, over a restart and a move to another instance'],
  ],
  'many timers do not hold the task up': [[dsl, 'fire many timers in portions, in order, before the next record']],
  'a looked-up row is asked for once, kept over a failure, and asked for again when its time is over': [
    ['test/dsl/lookup-join.test.ts', 'a row is asked for again when its time is over, not before'],
    ['integration-tests/exactly-once/enrichment.test.ts', 'the cache outlives the process'],
  ],

  // Time and windows
  'event time puts a late reading into its own window, processing time into that of its arrival': [[seeds, '"event-vs-processing-time"']],
  'a field of a record drives nothing until the source has watermarks': [[dsl, 'are refused where event time does not reach']],
  'the watermark is the highest time less the bound less one millisecond': [[seeds, '"bounded-out-of-orderness"']],
  'watermarks neither hold records back nor sort them': [
    [harness, 'holds no record back and sorts none: they come to the operator as they were pushed'],
  ],
  'watermarks are periodic, or made for each record': [[dsl, 'can be made for each record out of its value']],
  'records behind the watermark are late, not errors': [[dsl, 'drop and count late records without a side output']],
  'the watermark of several inputs is the lowest': [
    [seeds, '"min-watermark"'],
    [across, 'is the lowest over all tasks upstream'],
    [kills, 'closes no window before the slowest partition has passed it, whoever is killed meanwhile'],
  ],
  'an idle input leaves the minimum; when all are idle the highest is passed once': [
    [dsl, 'leave an idle partition out after its timeout'],
    ['test/time/watermarks/watermark-combiner.test.ts', 'end at the maximum of all when all have gone idle, whichever went last'],
  ],
  'watermarks are made for each partition, before they meet': [
    [
      'test/time/watermarks/source-watermarks.test.ts',
      'come from each partition for itself, so that a fast one makes no record of a slow one late',
    ],
  ],
  'alignment pauses who is ahead, and never the slowest': [
    [alignment, 'holds who is more than the drift ahead of the slowest'],
    [alignment, 'never holds the slowest'],
  ],
  'windows hold their start and not their end, and fire at the last millisecond': [
    [windowCases, '"boundary-event-at-window-end-belongs-to-next"'],
    [windowCases, '"watermark-equal-maxTimestamp-fires"'],
  ],
  'a record belongs to several sliding windows': [['conformance/cases/flink/windows.json', '"slidingEventTime"']],
  'a record that bridges two sessions makes them one, with their state': [
    [dsl, 'join the sessions that a record bridges'],
    [windowCases, '"session-touching-merges"'],
  ],
  'first result at the end, updates while lateness lasts, then dropped or put aside': [
    [windowCases, '"seed0-minute-mean-lateness10s"'],
    [dsl, 'fire again for late records that are allowed, count the revisions, and send the others to the side'],
  ],
  'without lateness a late record changes nothing; within it the result is updated': [[seeds, '"lateness-0-and-3"']],
  'out of order within the bound: 3, 5, 2, watermark 4, then 4 and 6': [[seeds, '"out-of-order-3-5-2-4-6"']],
  'clock and chance come from the context, so that a replay gives the same output': [
    ['test/dsl/determinism.test.ts', 'gives the same event-time output, whatever the commits and the clock'],
    ['test/dsl/determinism.test.ts', 'gives other processing-time output with another clock'],
  ],
  'an older revision does not replace a newer one, and one revision has one content': [
    [seeds, '"revision-guard"'],
    ['test/processors/latest-revision.test.ts', 'is refused when it comes with another content'],
  ],
  'results in event time are the same when the input is replayed': [
    [across, 'are the same for input shuffled within the bound as for sorted input, across a repartition too'],
    ['test/simulation/event-time.test.ts', 'closes each window once, complete, whatever crashes, stands still or moves'],
  ],

  // Epochs
  'a restart resumes at the position of its state: 1000 and 200 make 1200, and nothing else is possible': [
    [seeds, '"restore-C42"'],
    [kills, '1000 and 200 make 1200'],
  ],
  'positions, timers and time are of the same epoch': [
    ['test/runtime/stream-thread.test.ts', 'names its number, its producer and the time reached in the metadata of the offsets'],
  ],
  'epochs are numbered, one after the other': [['test/transactions/epoch-machine.test.ts', 'is followed by an epoch with a new number']],
  'the state of an epoch holds exactly the records before each input’s cut': [[seeds, '"barrier-cut"']],
  'an epoch is there whole or not at all; restarts take the last complete one': [
    ['test/transactions/producer/producer-machine.property.test.ts', 'commits each epoch whole or not at all'],
  ],
  'at least once may repeat, and loses nothing': [
    ['test/simulation/event-time.test.ts', 'closes no window early under at-least-once either'],
  ],
  'exactly once is the effect on state: a function may be called twice': [[seeds, '"state-exactly-once-effect-twice"']],
  'an effect outside happens twice while the state counts once': [[seeds, '"state-exactly-once-effect-twice"']],
  'output is visible when the epoch is complete, and never otherwise': [
    [transactions, 'makes records and offsets visible together, and nothing of an aborted epoch'],
  ],
  'a commit whose answer is lost is made once': [[transactions, 'commits once when the answer to EndTxn is lost']],
  'an open transaction of a dead owner holds nobody up': [
    [transactions, 'frees what the open transaction of a dead member holds back, and only that'],
  ],

  // Back-pressure and operations
  'a slow operator slows its source down and drops nothing': [
    ['test/kafka/fetcher/fetcher.test.ts', 'leave a partition out that has two fetches’ worth buffered, until room is given back'],
  ],
  'a queue of four, three in and one out a step: held up in five steps, nine waiting at most, nothing dropped': [
    [seeds, '"bounded-queue-model"'],
  ],
  'a slow task is busy, its input waits in the log; who waits for output is back-pressured': [
    ['test/app/back-pressure.test.ts', 'is busy; its input waits in the log'],
    ['test/app/back-pressure.test.ts', 'back-pressured, and every epoch completes'],
  ],
  'completion of an epoch does not take longer with a backlog between tasks': [
    ['test/simulation/backlog.test.ts', 'takes no longer with a backlog between tasks'],
  ],
  'what comes in faster than it goes out fills any buffer; a backlog ends by the difference of the rates, or never': [
    [seeds, '"backpressure-rate"'],
    [seeds, '"catch-up"'],
  ],
  'size of state and number of keys are metrics': [
    ['test/app/store-metrics.test.ts', 'tell keys and bytes of each store of a task, and of global tables'],
    ['test/stores/store-sizes.test.ts', 'the number of keys of a store (%s)'],
  ],
  'a window that does not fire can be explained, down to the partition': [
    ['test/testing/explain-watermark.test.ts', 'names the upstream task that was not heard of, and at its own place the partition'],
  ],
};

/** Rules that concern a library and are not met, or not tested, with the reason. */
export const flinkRulesNotMet: Readonly<Record<string, string>> = {
  'chaining can be disabled': 'operators of a sub-topology are always one chain; `repartition` ends it',
  'a sink declares whether it takes updates, and a mismatch fails when the plan is made':
    'results carry `isLate` and `revision`; sinks are topics, which take anything. Which operators update what they have told is for a planner to know, which SQL will bring',
  'checkpoint start delay, alignment time, synchronous and asynchronous duration are metrics':
    'there is no alignment; duration and size of an epoch are metrics',
};
