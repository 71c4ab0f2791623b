/** Configs of repartition topics, as Kafka Streams creates them. */
export const repartitionConfigs = {
  'cleanup.policy': 'delete',
  'segment.bytes': '52428800',
  'retention.ms': '-1',
  'message.timestamp.type': 'CreateTime',
} as const;
