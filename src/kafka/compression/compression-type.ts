/** Compression of a record batch, by the names that Kafka's `compression.type` has. */
export type CompressionType = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd';

/** Index = the number in the three lowest bits of a batch's attributes. */
export const compressionTypes: readonly CompressionType[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

/** The number that stands for a compression in a batch's attributes. */
export function compressionId(type: CompressionType): number {
  return compressionTypes.indexOf(type);
}
