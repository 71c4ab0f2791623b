/** Cases of which record of a task is next, its times, and when a task waits for an empty partition. They run a real task with two input topics. */
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { silentLogger } from '../../src/observability/logger.js';
import { callTimers } from '../../src/runtime/call-timers.js';
import { failAlways } from '../../src/runtime/error-policy.js';
import { SerdeDefaults } from '../../src/runtime/serde-defaults.js';
import { TaskMetrics } from '../../src/runtime/task-metrics.js';
import { Task } from '../../src/runtime/task.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopicLog } from '../../src/testing/topic-log.js';
import type { SubTopology } from '../../src/topology/nodes.js';
import { AlignmentGroups } from '../../src/time/watermarks/alignment.js';
import { list, number, object, text, type CaseEntry, type ConformanceCase, type Json, type JsonObject } from '../case.js';

const topics = ['1', '2'] as const;

export function recordSelectionCase({ value }: CaseEntry): ConformanceCase | null {
  if (!('batches' in value && 'columns' in value)) return null;
  return { name: text(value, 'name'), run: () => runBatches(value) };
}

export function idlingRow({ list: where, value }: CaseEntry): ConformanceCase | null {
  if (where !== 'idling.rows') return null;
  return { name: `idling: ${text(value, 'why')}`, run: () => runIdling(value) };
}

async function runBatches(value: JsonObject): Promise<string[]> {
  const rig = new TaskRig({ maxTaskIdleMs: -1, lag: () => 0 });
  for (const batch of list(value, 'batches') as readonly JsonObject[]) {
    for (const [topic, timestamps] of Object.entries(object(batch, 'add'))) rig.add(topic, timestamps as readonly number[]);
    for (let polls = number(batch, 'poll'); polls > 0; polls--) await rig.poll(0);
  }
  const columns = list(value, 'columns').length;
  const got = JSON.stringify(rig.taken.map((row) => row.slice(0, columns)));
  const expected = JSON.stringify(value.expected);
  return got === expected ? [] : [`expected ${expected}, got ${got}`];
}

async function runIdling(value: JsonObject): Promise<string[]> {
  const lag = value.lag2 === 'unknown' ? null : number(value, 'lag2', 0);
  const rig = new TaskRig({ maxTaskIdleMs: number(value, 'maxTaskIdleMs'), lag: () => lag });
  for (const topic of list(value, 'buffered') as readonly string[]) rig.add(topic, [1]);
  // The wait begins when the task first finds the partition empty, at time 0.
  let ready = await rig.poll(0);
  const now = number(value, 'nowMs', 0);
  if (!ready && now > 0) ready = await rig.poll(now);
  return ready === value.ready ? [] : [`expected ready ${JSON.stringify(value.ready)}, got ${String(ready)}`];
}

/** One task over topics "1" and "2" that stops after each record, because its processor answers by a promise. */
class TaskRig {
  /** Partition, timestamp, stream time after, lateness, partition times. */
  readonly taken: Json[][] = [];
  private readonly task: Task;
  private readonly log = new TopicLog();
  private now = 0;

  constructor(options: { readonly maxTaskIdleMs: number; readonly lag: () => number | null }) {
    const builder = new StreamsBuilder();
    builder
      .stream<string, string>([...topics], { keySerde: serdes.string, valueSerde: serdes.string })
      .foreach(async (_value, _key, meta) => {
        this.took(String(meta.topic), meta.timestamp);
      });
    const topology = builder.build();
    const compiled = new SerdeDefaults(null, null);
    this.task = new Task({
      id: '0_0',
      partition: 0,
      topology,
      subTopology: topology.subTopologies[0] as SubTopology,
      env: {
        applicationId: 'app',
        output: { partitionCount: () => 1, builder: (topic, partition) => this.log.builder(topic, partition) },
        errors: failAlways,
        logger: silentLogger,
        metrics: new TaskMetrics(),
        defaultEmit: 'onUpdate',
        maxTaskIdleMs: options.maxTaskIdleMs,
        isolation: 'read_uncommitted',
        wallClock: () => this.now,
        requestCommit: () => undefined,
        calls: callTimers(new TaskMetrics(), () => undefined),
        serde: (serde, node, part) => compiled.compiled(serde, node, part),
      },
      inputs: topics.map((topic) => ({ topic, partition: 0, sourceNode: 'KSTREAM-SOURCE-0000000000', offset: 0, partitionTime: -1 })),
      lags: { lag: options.lag, isAtEnd: () => options.lag() === 0 },
      watermarks: { targets: [], repeatEvery: Infinity, alignment: new AlignmentGroups().of('0_0', '0') },
      store: () => undefined,
      topicOf: (name) => name,
      released: () => undefined,
    });
  }

  add(topic: string, timestamps: readonly number[]): void {
    for (const timestamp of timestamps) this.log.builder(topic, 0).appendRaw(timestamp, null, 0, 0, null, 0, 0, null);
    for (const chunk of this.log.deliver()) this.task.addChunk(chunk);
  }

  /** Lets the task take one record; false when it takes none. */
  async poll(now: number): Promise<boolean> {
    this.now = now;
    const count = this.task.run(Infinity);
    await this.task.settled();
    return count > 0;
  }

  private took(topic: string, timestamp: number): void {
    const before = this.taken.at(-1)?.[2] ?? -1;
    const partitionTimes = topics.map((name) => this.task.queues.find((queue) => queue.topic === name)?.partitionTime ?? -1);
    this.taken.push([topic, timestamp, this.task.streamTime(), Math.max(0, Number(before) - timestamp), ...partitionTimes]);
  }
}
