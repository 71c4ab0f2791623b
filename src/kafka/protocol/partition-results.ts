import type { PartitionResult } from '../port.js';
import type { WireReader } from './wire-reader.js';

/** Topics → partitions → error code: the body of several answers. */
export function readPartitionResults(input: WireReader): PartitionResult[] {
  const results: PartitionResult[] = [];
  input.readArray(() => {
    const topic = input.readString();
    input.readArray(() => {
      results.push({ topic, partition: input.readInt32(), errorCode: input.readInt16() });
      input.endStruct();
    });
    input.endStruct();
  });
  return results;
}
