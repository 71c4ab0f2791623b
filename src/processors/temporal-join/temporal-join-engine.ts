/**
 * The temporal join, pure: each row meets the version that the other side had at the row's own time.
 *
 * A row waits until the watermark has reached its time, when all versions that could be meant are known; one that comes below the watermark is late. Of the versions at or before the
 * watermark the latest one is kept, also when it says that there is none, and all after it: a version that comes late still holds for the rows to come. Whoever runs it sets the backend's
 * current key before each call, and takes due timers out of the timer service for `onEventTimer`. Each row is joined on its own: when `joined` throws, the others stay, and their timer is due.
 */
import { inPlaceSerde } from '../../serdes/in-place-serde.js';
import type { Serde } from '../../serdes/serde.js';
import { serdes } from '../../serdes/serdes.js';
import { ofRow } from '../failed-row.js';
import type { MapState } from '../state/keyed-state.js';
import type { KeyedStates } from '../state/keyed-states.js';
import { mapState } from '../state/state-descriptor.js';
import type { Timer } from '../timers/timer-queue.js';
import type { TimerService } from '../timers/timer-service.js';

/** null: from then on there is no row. */
interface Version<R> {
  readonly row: R | null;
}

export interface TemporalJoinResults<L, R> {
  /** `right === null`: there was no version at that time. */
  joined(left: L, right: R | null, timestamp: number): void;
  /** A row below the watermark, or a version that no row can mean any more. */
  late(side: 'left' | 'right', value: L | R | null, timestamp: number): void;
}

/** Rows that wait and versions as states, to be declared: those of one key by timestamp. */
export function temporalJoinStates<L, R>(rowsSerde?: Serde<readonly L[]>, versionSerde?: Serde<R>) {
  return {
    rows: mapState<number, readonly L[]>('temporal-rows', { keySerde: serdes.double, serde: rowsSerde }),
    versions: mapState<number, Version<R>>('temporal-versions', {
      keySerde: serdes.double,
      serde: versionSerde && nullableSerde(versionSerde),
    }),
  } as const;
}

export class TemporalJoinEngine<L, R> {
  private readonly rows: MapState<number, readonly L[]>;
  private readonly versions: MapState<number, Version<R>>;

  constructor(
    descriptors: ReturnType<typeof temporalJoinStates<L, R>>,
    private readonly states: KeyedStates,
    private readonly timers: TimerService,
    private readonly results: TemporalJoinResults<L, R>,
  ) {
    this.rows = states.state(descriptors.rows, states.scope(false));
    this.versions = states.state(descriptors.versions, states.scope(false));
  }

  processLeft(value: L, timestamp: number): void {
    if (timestamp <= this.timers.currentWatermark) {
      this.results.late('left', value, timestamp);
      return;
    }
    this.rows.put(timestamp, [...(this.rows.get(timestamp) ?? []), value]);
    this.timers.registerEventTimer('', timestamp);
  }

  processRight(row: R | null, timestamp: number): void {
    const { currentWatermark } = this.timers;
    if (timestamp <= currentWatermark) {
      const current = latestAt(this.versions.keys(), currentWatermark);
      if (current !== null && timestamp < current) {
        this.results.late('right', row, timestamp);
        return;
      }
    }
    this.versions.put(timestamp, { row });
    this.timers.registerEventTimer('', timestamp);
  }

  /** Event time has come to rows or to a version: rows leave, and what was valid before goes. */
  onEventTimer({ time }: Timer): void {
    const current = latestAt(this.versions.keys(), time);
    const waiting = this.rows.get(time);
    if (waiting !== null) {
      this.rows.remove(time);
      this.joinAll(waiting, current === null ? null : (this.versions.get(current)?.row ?? null), time);
    }
    if (current !== null) for (const version of this.versions.keys()) if (version < current) this.versions.remove(version);
  }

  /** One that fails is gone; those behind it come with a timer of their own, which is due at once. */
  private joinAll(waiting: readonly L[], right: R | null, time: number): void {
    for (const [index, left] of waiting.entries()) {
      try {
        this.results.joined(left, right, time);
      } catch (error) {
        const behind = waiting.slice(index + 1);
        if (behind.length > 0) this.rows.put(time, behind);
        this.timers.registerEventTimer('', time);
        throw ofRow(error, this.states.backend.currentKey(), left);
      }
    }
  }
}

/** The highest of `times` that is not above `time`; null when there is none. */
function latestAt(times: readonly number[], time: number): number | null {
  let latest: number | null = null;
  for (const each of times) if (each <= time && (latest === null || each > latest)) latest = each;
  return latest;
}

/** A byte that is 1 before a row, and 0 for none. */
function nullableSerde<R>(serde: Serde<R>): Serde<Version<R>> {
  return inPlaceSerde<Version<R>>({
    name: `version(${serde.name})`,
    encode: ({ row }, out) => {
      out.writeByte(row === null ? 0 : 1);
      if (row !== null) out.writeBytes(serde.serialize(row));
    },
    decode: (buffer, start, end) => ({
      row: buffer[start] === 0 ? null : (serde.deserialize(Buffer.from(buffer.subarray(start + 1, end))) as R),
    }),
  });
}
