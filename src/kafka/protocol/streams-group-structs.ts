/** Structures that the requests about streams groups share. */
import type { StreamsTasks } from '../streams-groups.js';
import type { WireReader } from './wire-reader.js';
import type { WireWriter } from './wire-writer.js';

export function readTasks(input: WireReader): StreamsTasks {
  const tasks = { subTopology: input.readString(), partitions: input.readArray(() => input.readInt32()) };
  input.endStruct();
  return tasks;
}

/** By key: the broker compares topologies, order included. */
export function writeKeyValues(out: WireWriter, values: Readonly<Record<string, string>>): void {
  const entries = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  out.writeArray(entries, ([key, value]) => {
    out.writeString(key);
    out.writeString(value);
    out.endStruct();
  });
}

export function readKeyValues(input: WireReader): Record<string, string> {
  const entries = input.readArray((): [string, string] => {
    const entry: [string, string] = [input.readString(), input.readString()];
    input.endStruct();
    return entry;
  });
  return Object.fromEntries(entries);
}
