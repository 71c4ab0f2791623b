/** Apps over a Kafka in memory: whole instances, without a broker. Their state is in memory, or in a folder on disk. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StreamsApp } from '../../../src/app/streams-app.js';
import type { AppPlatform } from '../../../src/app/app-platform.js';
import type { StreamsConfig } from '../../../src/app/config.js';
import type { Logger } from '../../../src/observability/logger.js';
import { StateDirectory } from '../../../src/stores/state-directory.js';
import { InMemoryDirectory } from '../../../src/testing/in-memory-kafka/in-memory-directory.js';
import { inMemoryKafka, type InMemoryKafka, type InMemoryPortSettings } from '../../../src/testing/in-memory-kafka/in-memory-kafka.js';
import type { Topology } from '../../../src/topology/nodes.js';

export interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export class MemoryApps {
  readonly kafka: InMemoryKafka = inMemoryKafka();
  readonly logged: LoggedLine[] = [];
  private readonly apps: StreamsApp[] = [];
  private readonly folders: string[] = [];
  private made = 0;

  /** An app that is not started. `stateDir` in the config: its state is on disk. */
  app(
    topology: Topology,
    config: Partial<StreamsConfig> = {},
    faults: InMemoryPortSettings['faults'] = {},
    /** Default: one of its own. */
    directory?: InMemoryDirectory,
  ): StreamsApp {
    const name = `instance-${++this.made}`;
    const platform: AppPlatform = {
      openPort: ({ clientId }) => this.kafka.port({ clientId, faults }),
      openDirectory: (options) =>
        options.stateDir === null ? Promise.resolve((directory ?? new InMemoryDirectory(name)).acquire()) : StateDirectory.acquire(options),
    };
    const app = new StreamsApp(
      topology,
      {
        applicationId: 'app',
        bootstrapServers: 'memory:9092',
        heartbeatInterval: 20,
        commitInterval: 20,
        logger: this.logger(),
        ...config,
      },
      platform,
    );
    app.on('error', () => undefined);
    this.apps.push(app);
    return app;
  }

  async running(topology: Topology, config: Partial<StreamsConfig> = {}, directory?: InMemoryDirectory): Promise<StreamsApp> {
    const app = this.app(topology, config, {}, directory);
    await app.start();
    await until('the app runs', () => app.state === 'running');
    return app;
  }

  /** A folder for state, deleted at the end. */
  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-apps-'));
    this.folders.push(folder);
    return folder;
  }

  /** Committed values of the topic, in order. */
  values(topic: string): (string | null)[] {
    return this.kafka.records(topic).map(({ value }) => (value === null ? null : Buffer.from(value).toString()));
  }

  async end(): Promise<void> {
    for (const app of this.apps) await app.close({ timeout: 1000 }).catch(() => undefined);
    for (const folder of this.folders) await rm(folder, { recursive: true, force: true });
  }

  private logger(): Logger {
    const at =
      (level: LoggedLine['level']) =>
      (fields: object, message: string): void => {
        this.logged.push({ level, fields: { ...fields }, message });
      };
    const logger: Logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => logger };
    return logger;
  }
}

export async function until(what: string, condition: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited too long until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
