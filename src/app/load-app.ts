import { MillraceError } from '../errors.js';
import type { Topology } from '../topology/nodes.js';
import { realPlatform, type AppPlatform } from './app-platform.js';
import type { StreamsConfig } from './config.js';
import { loadTopologyModule, moduleUrl } from './topology-module.js';

export interface LoadedApp {
  readonly topology: Topology;
  readonly config: StreamsConfig;
  readonly platform: AppPlatform;
}

/** What an app is made of whose topology is a module. What several threads need is imported only where there are several. */
export async function loadApp(module: URL | string, given: StreamsConfig): Promise<LoadedApp> {
  if (typeof (given as unknown) !== 'object' || (given as unknown) === null)
    throw new MillraceError('MILL_CONFIG_INVALID', 'The app needs a configuration: at least { applicationId, bootstrapServers }.');
  const url = moduleUrl(module);
  const { topology, config } = await loadTopologyModule(url, given, null);
  if (!(typeof config.threads === 'number' && config.threads > 1)) return { topology, config, platform: realPlatform };
  const [{ ThreadedEngine }, { sendableConfig }] = await Promise.all([
    import('./threads/threaded-engine.js'),
    import('./threads/sendable-config.js'),
  ]);
  const { config: sent, faults } = sendableConfig(given);
  if (faults.length > 0) throw new MillraceError('MILL_CONFIG_INVALID', faults.join('; '), { details: { faults } });
  return { topology, config, platform: { ...realPlatform, openEngine: (parts) => new ThreadedEngine({ ...parts, module: url, sent }) } };
}
