import { createKafkajsPort } from '../../src/kafka/kafkajs/kafkajs-port.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';

/** An open port to the cluster, for harness and programs; the caller closes it. */
export async function connect(brokers: readonly string[], clientId: string): Promise<KafkaPort> {
  const port = createKafkajsPort({ brokers, clientId }, silentLogger);
  await port.connect();
  return port;
}
