import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { PartitionGroup } from '../../src/runtime/partition-group.js';
import type { RecordQueue } from '../../src/runtime/record-queue.js';

interface Rules {
  readonly cases: readonly {
    readonly name: string;
    readonly batches: readonly { readonly add: Readonly<Record<string, readonly number[]>>; readonly poll: number }[];
    readonly columns: readonly string[];
    readonly expected: readonly (readonly (string | number)[])[];
  }[];
  readonly idling: {
    readonly rows: readonly {
      readonly maxTaskIdleMs: number;
      readonly buffered: readonly string[];
      readonly lag2?: number | 'unknown';
      readonly nowMs?: number;
      readonly ready: boolean;
      readonly why: string;
    }[];
  };
}

const rules = JSON.parse(
  readFileSync(new URL('../../conformance/cases/kafka-streams/record-selection.json', import.meta.url), 'utf8'),
) as Rules;

/** A queue as the group sees it: the times of its records, the head first. */
class Times {
  partitionTime = -1;
  readonly partition = 0;
  private readonly waiting: number[] = [];

  constructor(readonly topic: string) {}

  get hasHead(): boolean {
    return this.waiting.length > 0;
  }

  get headTimestamp(): number {
    return this.waiting[0] ?? -1;
  }

  add(timestamps: readonly number[]): void {
    this.waiting.push(...timestamps);
  }

  take(): number {
    return this.waiting.shift() ?? -1;
  }
}

function group(queues: readonly Times[], lag: number | null, maxTaskIdleMs: number): PartitionGroup {
  return new PartitionGroup(queues as unknown as readonly RecordQueue[], { lag: () => lag, isAtEnd: () => lag === 0 }, maxTaskIdleMs);
}

describe('the next record of a task, by the rules of Kafka Streams', () => {
  it.each(rules.cases)('$name', ({ batches, columns, expected }) => {
    const queues = [new Times('1'), new Times('2')];
    const picks = group(queues, 0, -1);
    const taken: (string | number)[][] = [];
    for (const { add, poll } of batches) {
      for (const queue of queues) queue.add(add[queue.topic] ?? []);
      for (let i = 0; i < poll; i++) {
        const queue = picks.pick(0) as unknown as Times;
        const time = queue.take();
        const before = picks.streamTime;
        queue.partitionTime = Math.max(queue.partitionTime, time);
        picks.streamTime = Math.max(picks.streamTime, time);
        const row = [queue.topic, time, picks.streamTime, Math.max(0, before - time), ...queues.map(({ partitionTime }) => partitionTime)];
        taken.push(row.slice(0, columns.length));
      }
    }
    expect(taken).toEqual(expected);
  });

  it.each(rules.idling.rows)('waiting: $why (idle $maxTaskIdleMs, lag $lag2)', ({ maxTaskIdleMs, buffered, lag2, nowMs, ready }) => {
    const queues = [new Times('1'), new Times('2')];
    for (const queue of queues) if (buffered.includes(queue.topic)) queue.add([1]);
    const picks = group(queues, lag2 === 'unknown' ? null : (lag2 ?? 0), maxTaskIdleMs);
    let picked = picks.pick(0);
    if (picked === null && (nowMs ?? 0) > 0) picked = picks.pick(nowMs ?? 0);
    expect(picked !== null).toBe(ready);
  });
});

describe('stream time', () => {
  it('begins at the highest time committed for any partition', () => {
    const [a, b] = [new Times('1'), new Times('2')];
    a.partitionTime = 50;
    b.partitionTime = 90;
    expect(group([a, b], 0, 0).streamTime).toBe(90);
  });
});

describe('the idle deadline', () => {
  it('is told while the group waits for the clock, and for nothing else', () => {
    const [a, b] = [new Times('1'), new Times('2')];
    const picks = group([a, b], 0, 10);
    expect(picks.pick(0)).toBeNull();
    expect(picks.idleDeadline()).toBeNull();
    a.add([1, 2]);
    expect(picks.pick(100)).toBeNull();
    expect(picks.idleDeadline()).toBe(110);
    expect(picks.pick(110)).toBe(a);
    expect(picks.idleDeadline()).toBeNull();
  });

  it('is gone once everything was taken: nothing would come of waking up', () => {
    const [a, b] = [new Times('1'), new Times('2')];
    const picks = group([a, b], 0, 10);
    a.add([1]);
    picks.pick(0);
    picks.pick(10);
    a.take();
    expect(picks.pick(11)).toBeNull();
    expect(picks.idleDeadline()).toBeNull();
  });

  it('begins anew when the empty partition had data in between', () => {
    const [a, b] = [new Times('1'), new Times('2')];
    const picks = group([a, b], 0, 10);
    a.add([1, 5]);
    picks.pick(0);
    b.add([2]);
    expect(picks.pick(5)).toBe(a);
    a.take();
    expect(picks.pick(5)).toBe(b);
    b.take();
    expect(picks.pick(6)).toBeNull();
    expect(picks.idleDeadline()).toBe(16);
  });
});

describe('a single partition', () => {
  it('is never waited for', () => {
    const only = new Times('1');
    const picks = group([only], null, 1000);
    expect(picks.pick(0)).toBeNull();
    only.add([3]);
    expect(picks.pick(0)).toBe(only);
  });
});
