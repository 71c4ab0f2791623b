import type { StoreSpec } from './store.js';

/** Kafka Streams' `windowstore.changelog.additional.retention.ms`: one day, for clocks that differ. */
export const additionalRetentionMs = 24 * 60 * 60 * 1000;

/**
 * Configs of a store's changelog topic, as Kafka Streams sets them (`UnwindowedUnversionedChangelogTopicConfig`, `WindowedChangelogTopicConfig`,
 * `VersionedChangelogTopicConfig`). Those of the spec win.
 */
export function changelogConfigs(spec: StoreSpec): Readonly<Record<string, string>> {
  return { 'message.timestamp.type': 'CreateTime', ...cleanup(spec), ...spec.changelogConfigs };
}

function cleanup(spec: StoreSpec): Readonly<Record<string, string>> {
  switch (spec.kind) {
    case 'window':
    case 'timestampedWindow':
    case 'session':
    case 'slidingWindow':
    case 'joinWindow':
      return { 'cleanup.policy': 'compact,delete', 'retention.ms': String((spec.retention ?? 0) + additionalRetentionMs) };
    case 'versioned':
      // Versions of the history have the same key: compaction must leave them alone.
      return { 'cleanup.policy': 'compact', 'min.compaction.lag.ms': String((spec.historyRetention ?? 0) + additionalRetentionMs) };
    case 'keyValue':
    case 'timestampedKeyValue':
    case 'timeOrderedBuffer':
      return { 'cleanup.policy': 'compact' };
  }
}
