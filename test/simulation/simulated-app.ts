/** App instances as processes of a virtual world: each with a disk that outlives it, each start a new process on it. */
import type { Logger } from '../../src/observability/logger.js';
import { StreamsApp } from '../../src/app/streams-app.js';
import type { StreamsConfig } from '../../src/app/config.js';
import type { NetworkFaults } from '../../src/testing/in-memory-kafka/client-network.js';
import { InMemoryDirectory } from '../../src/testing/in-memory-kafka/in-memory-directory.js';
import type { InMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import type { Topology } from '../../src/topology/nodes.js';
import { SimulatedProcess, type VirtualWorld } from './virtual-world.js';

export interface SimulatedAppOptions {
  readonly world: VirtualWorld;
  readonly kafka: InMemoryKafka;
  readonly topology: (process: SimulatedProcess) => Topology;
  readonly config: Partial<StreamsConfig> & { readonly applicationId: string };
  readonly faults: () => NetworkFaults;
  readonly newId: () => string;
  /** A static member, under the name of the instance. */
  readonly isStatic?: boolean;
  readonly log: (instance: string, level: string, message: string, fields: object) => void;
}

export class SimulatedApp {
  process: SimulatedProcess | null = null;
  app: StreamsApp | null = null;
  /** Errors that stopped the app or that it reported. */
  readonly errors: Error[] = [];
  private disk: InMemoryDirectory;
  private starts = 0;
  private clockOffsetMs = 0;

  constructor(
    readonly name: string,
    private readonly options: SimulatedAppOptions,
  ) {
    this.disk = new InMemoryDirectory(options.newId());
  }

  get isRunning(): boolean {
    return this.app?.state === 'running';
  }

  start(): void {
    const { world, kafka, config, isStatic, log } = this.options;
    const process = new SimulatedProcess(`${this.name}.${++this.starts}`);
    process.clockOffsetMs = this.clockOffsetMs;
    this.process = process;
    const { disk } = this;
    const logger: Logger = loggerTo((level, message, fields) => log(process.name, level, message, fields));
    world.as(process, () => {
      const app = new StreamsApp(
        this.options.topology(process),
        {
          bootstrapServers: 'memory:9092',
          storeEngine: 'memory',
          logger,
          clientId: process.name,
          groupInstanceId: isStatic === true ? this.name : null,
          ...config,
        },
        {
          openPort: ({ clientId }) => kafka.port({ clientId, clock: world.clockOf(process), faults: this.options.faults }),
          openDirectory: () => Promise.resolve(disk),
        },
      );
      this.app = app;
      app.on('error', (error) => this.fault(error));
      app.start().catch((error: unknown) => {
        // A process that cannot start ends, and its supervisor starts it again.
        log(process.name, 'error', `start failed: ${String(error)}`, {});
        this.lastStartError = error as Error;
      });
    });
  }

  lastStartError: Error | null = null;

  /** kill -9. */
  crash(): void {
    if (this.process !== null) this.process.isDead = true;
    this.process = null;
    this.app = null;
  }

  /** SIGSTOP until then. */
  pauseFor(ms: number): void {
    if (this.process !== null) this.process.pausedUntil = this.options.world.now + ms;
  }

  /** Sets the machine's wall clock forward, or back. */
  setClock(byMs: number): void {
    this.clockOffsetMs += byMs;
    if (this.process !== null) this.process.clockOffsetMs = this.clockOffsetMs;
  }

  close(): void {
    const { app, process } = this;
    if (app === null || process === null) return;
    this.options.world.as(process, () => {
      app.close().catch((error: unknown) => this.options.log(process.name, 'error', `close failed: ${String(error)}`, {}));
    });
  }

  /** The next start is on another machine. */
  newDisk(): void {
    this.disk = new InMemoryDirectory(this.options.newId());
  }

  private fault(error: Error): void {
    this.errors.push(error);
  }
}

function loggerTo(write: (level: string, message: string, fields: object) => void): Logger {
  const at = (level: string) => (fields: object, message?: string) => write(level, message ?? '', fields);
  const logger = { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), fatal: at('fatal') };
  return { ...logger, child: () => loggerTo(write) };
}
