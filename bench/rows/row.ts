import pc from 'picocolors';
import type { AppRival, Bench, Side } from '../harness/bench.js';
import { sides } from '../harness/bench.js';
import type { RowResult } from '../report/summary.js';
import { summarise } from '../report/summary.js';

/** A named measurement. Its results are the row itself (or several of its name), then `cpu-<row>` and `memory-<row>`. */
export interface Row {
  readonly name: string;
  /** Whom it compares with. */
  readonly against: AppRival;
  /** It takes long: left out unless it is asked for by name. */
  readonly onlyIfNamed?: boolean;
  readonly needsRegistry?: boolean;
  run(bench: Bench): Promise<readonly RowResult[]>;
}

/** What one side gave in one round. */
export interface Sample {
  readonly value: number;
  /** CPU seconds, in the unit of the row's `cpuUnit`. */
  readonly cpu: number;
  /** The most private memory; null where the system does not tell. */
  readonly memoryBytes: number | null;
  /** Told with each round, beside the rest. */
  readonly note?: string;
}

/** A row of one duration in seconds, beside Kafka Streams. */
export function durationRow(name: string, measure: (bench: Bench, side: Side) => Promise<Sample>): Row {
  return {
    name,
    against: 'Kafka Streams',
    async run(bench) {
      const samples = await inTurn(bench, name, (side) => measure(bench, side));
      return [summarise(name, 's', 'lower', valuesOf(samples)), ...costRows(name, samples, 'CPU s')];
    },
  };
}

export type SamplesOf<S> = Readonly<Record<Side, readonly S[]>>;

const oursAlone: readonly Side[] = ['ours'];

/** Measures ours, theirs, ours, theirs, … */
export async function inTurn<S extends Sample>(bench: Bench, row: string, measure: (side: Side) => Promise<S>): Promise<SamplesOf<S>> {
  const samples: Record<Side, S[]> = { ours: [], theirs: [] };
  for (let round = 1; round <= bench.options.rounds; round++) {
    for (const side of bench.options.oursAlone ? oursAlone : sides) {
      const sample = await measure(side);
      samples[side].push(sample);
      const memory = sample.memoryBytes === null ? '' : `, ${(sample.memoryBytes / 1e6).toFixed(0)} MB`;
      console.error(
        pc.dim(
          `${row} round ${round} ${side}: ${Number(sample.value.toPrecision(4))} (CPU ${sample.cpu.toPrecision(3)}${memory}) ${sample.note ?? ''}`,
        ),
      );
    }
  }
  return samples;
}

/** The rows `cpu-<row>` and `memory-<row>`. */
export function costRows(row: string, samples: SamplesOf<Sample>, cpuUnit: string): RowResult[] {
  const cpu = { ours: samples.ours.map((sample) => sample.cpu), theirs: samples.theirs.map((sample) => sample.cpu) };
  const memory = { ours: megabytes(samples.ours), theirs: megabytes(samples.theirs) };
  const results = [summarise(`cpu-${row}`, cpuUnit, 'lower', cpu)];
  if (memory.ours.length > 0 && memory.theirs.length > 0) results.push(summarise(`memory-${row}`, 'MB', 'lower', memory));
  return results;
}

/** The value of each sample. */
export function valuesOf<S extends Sample>(
  samples: SamplesOf<S>,
  valueOf: (sample: S) => number = ({ value }) => value,
): Record<Side, number[]> {
  return { ours: samples.ours.map(valueOf), theirs: samples.theirs.map(valueOf) };
}

function megabytes(samples: readonly Sample[]): number[] {
  return samples.flatMap(({ memoryBytes }) => (memoryBytes === null ? [] : [memoryBytes / 1e6]));
}
