/**
 * Control records: what the broker writes between data records to end a transaction. Their key is an int16 version and an int16
 * type; further types (leader changes, snapshots) occur only in the cluster's own topics and count as "other".
 */
export type ControlType = 'abort' | 'commit' | 'other';

/** The type of a control record, from its key in `buffer[keyStart, keyEnd)`. */
export function controlType(buffer: Buffer, keyStart: number, keyEnd: number): ControlType {
  if (keyStart < 0 || keyEnd - keyStart < 4) return 'other';
  const type = buffer.readInt16BE(keyStart + 2);
  if (type === 0) return 'abort';
  return type === 1 ? 'commit' : 'other';
}
