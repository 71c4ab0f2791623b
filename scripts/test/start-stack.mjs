// Before the integration tests: one Kafka and one schema registry for the whole run, unless the environment names them.
import { tsImport } from 'tsx/esm/api';

export default async function startSharedStack() {
  const { startStack } = await tsImport('../stack/stack.ts', import.meta.url);
  const { printProgress } = await tsImport('../stack/progress.ts', import.meta.url);
  const stack = await startStack({ registry: true, onProgress: printProgress() });
  process.env.KAFKA_BROKERS = stack.bootstrapServers.join(',');
  process.env.SCHEMA_REGISTRY_URL = stack.registryUrl;
  globalThis.millraceSharedStack = stack;
}
