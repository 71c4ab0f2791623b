/**
 * The temporal join, pure: each row meets the version that the other side had at the row's own time.
 *
 * A row waits until the watermark has reached its time, when all versions that could be meant are known; one that comes below the watermark is late. Of the versions at or before the
 * watermark the latest one is kept, also when it says that there is none, and all after it: a version that comes late still holds for the rows to come. Each time has one timer, and timers
 * come in the order of time, so the version of a row is the last one whose timer has come: nothing is searched. Whoever runs it sets the backend's
 * current key before each call, and takes due timers out of the timer service for `onEventTimer`. Each row is joined on its own: when `joined` throws, the others stay, and their timer is due.
 */
import { inPlaceSerde, type InPlaceSerde } from '../../serdes/in-place-serde.js';
import type { Serde } from '../../serdes/serde.js';
import { serdes } from '../../serdes/serdes.js';
import { ofRow } from '../failed-row.js';
import type { MapState, ValueState } from '../state/keyed-state.js';
import type { KeyedStates } from '../state/keyed-states.js';
import { mapState, valueState } from '../state/state-descriptor.js';
import type { Timer } from '../timers/timer-queue.js';
import type { TimerService } from '../timers/timer-service.js';
import { serialized } from '../../serdes/serialized.js';

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

/** The version that holds as of the watermark. */
interface CurrentVersion<R> extends Version<R> {
  readonly since: number;
}

/** Rows and versions that wait for the watermark, by timestamp, and the version that holds, as states to be declared. */
export function temporalJoinStates<L, R>(rowsSerde?: Serde<readonly L[]>, versionSerde?: Serde<R>) {
  return {
    rows: mapState<number, readonly L[]>('temporal-rows', { keySerde: serdes.double, serde: rowsSerde }),
    versions: mapState<number, Version<R>>('temporal-versions', {
      keySerde: serdes.double,
      serde: versionSerde && nullableSerde(versionSerde),
    }),
    current: valueState<CurrentVersion<R>>('temporal-current', { serde: versionSerde && currentSerde(nullableSerde(versionSerde)) }),
  } as const;
}

export class TemporalJoinEngine<L, R> {
  private readonly rows: MapState<number, readonly L[]>;
  private readonly versions: MapState<number, Version<R>>;
  private readonly current: ValueState<CurrentVersion<R>>;

  constructor(
    descriptors: ReturnType<typeof temporalJoinStates<L, R>>,
    private readonly states: KeyedStates,
    private readonly timers: TimerService,
    private readonly results: TemporalJoinResults<L, R>,
  ) {
    this.rows = states.state(descriptors.rows, states.scope(false));
    this.versions = states.state(descriptors.versions, states.scope(false));
    this.current = states.state(descriptors.current, states.scope(false));
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
    if (timestamp > this.timers.currentWatermark) {
      this.versions.put(timestamp, { row });
      this.timers.registerEventTimer('', timestamp);
      return;
    }
    const current = this.current.value();
    if (current !== null && timestamp < current.since) this.results.late('right', row, timestamp);
    else this.current.update({ since: timestamp, row });
  }

  /** Event time has come to rows or to a version: the version takes the place of the one before, rows leave. */
  onEventTimer({ time }: Timer): void {
    const version = this.versions.get(time);
    if (version !== null) {
      this.current.update({ since: time, row: version.row });
      this.versions.remove(time);
    }
    const waiting = this.rows.get(time);
    if (waiting === null) return;
    this.rows.remove(time);
    this.joinAll(waiting, this.current.value()?.row ?? null, time);
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

/** A byte that is 1 before a row, and 0 for none. */
function nullableSerde<R>(serde: Serde<R>): InPlaceSerde<Version<R>> {
  return inPlaceSerde<Version<R>>({
    name: `version(${serde.name})`,
    encode: ({ row }, out) => {
      out.writeByte(row === null ? 0 : 1);
      if (row !== null) out.writeBytes(serialized(serde, row));
    },
    decode: (buffer, start, end) => ({
      row: buffer[start] === 0 ? null : (serde.deserialize(Buffer.from(buffer.subarray(start + 1, end))) as R),
    }),
  });
}

/** The time of a version, then the version. */
function currentSerde<R>(version: InPlaceSerde<Version<R>>): Serde<CurrentVersion<R>> {
  return inPlaceSerde<CurrentVersion<R>>({
    name: `current ${version.name}`,
    encode: ({ since, row }, out) => {
      out.writeDouble(since);
      version.encode({ row }, out);
    },
    decode: (buffer, start, end) => ({ since: buffer.readDoubleBE(start), row: version.decode(buffer, start + 8, end).row }),
  });
}
