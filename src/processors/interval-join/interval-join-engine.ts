/**
 * The interval join, pure: two streams of one key, matched by how far apart their records are in event time.
 *
 * Each record is kept as long as a record of the other side may still meet it, judged by the combined watermark, and then removed by a timer. A record below
 * the watermark is late and joins nothing. Results carry the higher timestamp of the two. Whoever runs it sets the backend's current key before each call, and
 * takes due timers out of the timer service for `onEventTimer`. `joined` may throw: the record is kept then, and will go, as any other.
 */
import type { Serde } from '../../serdes/serde.js';
import { serdes } from '../../serdes/serdes.js';
import type { MapState } from '../state/keyed-state.js';
import type { KeyedStates } from '../state/keyed-states.js';
import { mapState, type AnyStateDescriptor } from '../state/state-descriptor.js';
import type { Timer } from '../timers/timer-queue.js';
import type { TimerService } from '../timers/timer-service.js';
import type { InclusiveBounds } from './interval-bounds.js';

export type JoinSide = 'left' | 'right';

export interface IntervalJoinResults<L, R> {
  joined(left: L, right: R, timestamp: number): void;
  late(side: JoinSide, value: L | R, timestamp: number): void;
}

/** The buffers as states, to be declared: values of one key by timestamp. */
export interface IntervalJoinStates {
  readonly left: AnyStateDescriptor;
  readonly right: AnyStateDescriptor;
}

type Buffer<V> = MapState<number, readonly V[]>;

export function intervalJoinStates<L, R>(leftSerde?: Serde<readonly L[]>, rightSerde?: Serde<readonly R[]>) {
  return {
    left: mapState<number, readonly L[]>('interval-left', { keySerde: serdes.double, serde: leftSerde }),
    right: mapState<number, readonly R[]>('interval-right', { keySerde: serdes.double, serde: rightSerde }),
  } as const;
}

export class IntervalJoinEngine<L, R> {
  private readonly left: Buffer<L>;
  private readonly right: Buffer<R>;

  constructor(
    private readonly bounds: InclusiveBounds,
    descriptors: ReturnType<typeof intervalJoinStates<L, R>>,
    states: KeyedStates,
    private readonly timers: TimerService,
    private readonly results: IntervalJoinResults<L, R>,
  ) {
    this.left = states.state(descriptors.left, states.scope(false));
    this.right = states.state(descriptors.right, states.scope(false));
  }

  processLeft(value: L, timestamp: number): void {
    if (this.isLate('left', value, timestamp)) return;
    const { lower, upper } = this.bounds;
    append(this.left, timestamp, value);
    this.timers.registerEventTimer('left', timestamp + this.keptLeft);
    for (const [time, others] of between(this.right, timestamp + lower, timestamp + upper)) {
      for (const other of others) this.results.joined(value, other, Math.max(time, timestamp));
    }
  }

  processRight(value: R, timestamp: number): void {
    if (this.isLate('right', value, timestamp)) return;
    const { lower, upper } = this.bounds;
    append(this.right, timestamp, value);
    this.timers.registerEventTimer('right', timestamp + this.keptRight);
    for (const [time, others] of between(this.left, timestamp - upper, timestamp - lower)) {
      for (const other of others) this.results.joined(other, value, Math.max(time, timestamp));
    }
  }

  /** Removes what no record can meet any more. */
  onEventTimer({ namespace, time }: Timer): void {
    if (namespace === 'left') this.left.remove(time - this.keptLeft);
    else this.right.remove(time - this.keptRight);
  }

  /** How long past its timestamp a left record is kept, ms. */
  private get keptLeft(): number {
    return Math.max(this.bounds.upper, 0);
  }

  private get keptRight(): number {
    return Math.max(-this.bounds.lower, 0);
  }

  private isLate(side: JoinSide, value: L | R, timestamp: number): boolean {
    if (timestamp >= this.timers.currentWatermark) return false;
    this.results.late(side, value, timestamp);
    return true;
  }
}

function append<V>(buffer: Buffer<V>, timestamp: number, value: V): void {
  buffer.put(timestamp, [...(buffer.get(timestamp) ?? []), value]);
}

/** In the order of time, so that results come in the same order after a restore. */
function between<V>(buffer: Buffer<V>, from: number, to: number): (readonly [number, readonly V[]])[] {
  return buffer
    .entries()
    .filter(([time]) => time >= from && time <= to)
    .toSorted((a, b) => a[0] - b[0]);
}
