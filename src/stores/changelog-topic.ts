import type { StoreSpec } from './store.js';

/** Kafka Streams' `windowstore.changelog.additional.retention.ms`: one day, for clocks that differ. */
const additionalRetentionMs = 24 * 60 * 60 * 1000;

/** `<applicationId>-<store>-changelog`, as Kafka Streams names it. */
export function changelogTopic(applicationId: string, storeName: string): string {
  return `${applicationId}-${storeName}-changelog`;
}

/**
 * Configs of a store's changelog topic, as Kafka Streams sets them (`UnwindowedUnversionedChangelogTopicConfig`, `WindowedChangelogTopicConfig`).
 * Those of the spec win.
 */
export function changelogConfigs(spec: StoreSpec): Readonly<Record<string, string>> {
  const windowed = spec.kind === 'window' || spec.kind === 'timestampedWindow';
  return {
    'message.timestamp.type': 'CreateTime',
    ...(windowed
      ? { 'cleanup.policy': 'compact,delete', 'retention.ms': String((spec.retention ?? 0) + additionalRetentionMs) }
      : { 'cleanup.policy': 'compact' }),
    ...spec.changelogConfigs,
  };
}
