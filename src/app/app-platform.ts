/** What an app takes from outside, so that tests can put a cluster and a disk in memory in the place of sockets and files. */
import { createKafkajsPort } from '../kafka/kafkajs/kafkajs-port.js';
import type { ConnectionConfig, KafkaPort } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import type { AppEngine, EngineParts } from './app-engine.js';
import { StateDirectory, type InstanceDirectory, type OwnDirectory, type StateDirectoryOptions } from '../stores/state-directory.js';

/** What the parts of a stream thread take from outside. */
export interface PartsPlatform {
  openPort(config: ConnectionConfig, logger: Logger): KafkaPort;
  openDirectory(options: StateDirectoryOptions): Promise<InstanceDirectory>;
}

export interface AppPlatform extends PartsPlatform {
  openDirectory(options: StateDirectoryOptions): Promise<OwnDirectory>;
  /** Default: one stream thread in the caller's own. */
  readonly openEngine?: (parts: EngineParts) => AppEngine;
}

export const realPlatform: AppPlatform = {
  openPort: (config, logger) => createKafkajsPort(config, logger),
  openDirectory: (options) => StateDirectory.acquire(options),
};
