/** What the joins and windows of `joinsTopology` give for all of their input, computed at once and without any order of arrival. */
import type { Reading } from './event-run.js';
import { windowSize } from './event-topology.js';
import { slide } from './joins-topology.js';

/** Lines `key value` of each output, sorted. */
export interface ExpectedJoins {
  readonly hops: string[];
  readonly temporal: string[];
  readonly pairs: string[];
}

export function expectedJoins(readings: readonly Reading[], versions: readonly Reading[], time: number): ExpectedJoins {
  return {
    hops: hops(readings, time).sort(),
    temporal: asOf(
      readings.filter(({ timestamp }) => timestamp <= time),
      versions,
    ).sort(),
    pairs: pairs(readings, versions, time).sort(),
  };
}

function hops(readings: readonly Reading[], time: number): string[] {
  const windows = new Map<string, [sum: number, count: number]>();
  for (const { device, value, timestamp } of readings) {
    for (let start = Math.floor(timestamp / slide) * slide; start > timestamp - windowSize; start -= slide) {
      if (start + windowSize - 1 > time) continue;
      const name = `${device} ${start}`;
      const [sum, count] = windows.get(name) ?? [0, 0];
      windows.set(name, [sum + value, count + 1]);
    }
  }
  return [...windows].map(([name, [sum, count]]) => `${name}: ${sum}/${count}`);
}

function asOf(readings: readonly Reading[], versions: readonly Reading[]): string[] {
  return readings.flatMap(({ device, value, timestamp }) => {
    const [last] = versions
      .filter((version) => version.device === device && version.timestamp <= timestamp)
      .sort((a, b) => b.timestamp - a.timestamp);
    return last === undefined ? [] : [`${device} ${value}:${last.value}`];
  });
}

function pairs(readings: readonly Reading[], versions: readonly Reading[], time: number): string[] {
  const startOf = (timestamp: number): number => Math.floor(timestamp / windowSize) * windowSize;
  return readings.flatMap(({ device, value, timestamp }) => {
    const start = startOf(timestamp);
    if (start + windowSize - 1 > time) return [];
    return versions
      .filter((version) => version.device === device && startOf(version.timestamp) === start)
      .map((version) => `${device} ${start} ${value}:${version.value}`);
  });
}
