import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { AppMetrics, StreamsState } from 'millrace';

interface InstanceMessage {
  readonly kind: 'state' | 'closed';
  readonly state?: StreamsState;
  readonly metrics: AppMetrics;
}

/** A process that runs the flight app, as the demo starts, kills and stops it. */
export class Instance {
  state: StreamsState | 'killed' = 'created';
  metrics: AppMetrics | null = null;
  private child: ChildProcess | null = null;
  private waiting: (() => void)[] = [];
  private output = '';

  constructor(
    readonly name: string,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  start(): void {
    const app = fileURLToPath(new URL('../02-flight-delays/app.ts', import.meta.url));
    this.state = 'created';
    const child = spawn(process.execPath, ['--import', 'tsx', app], {
      env: { ...process.env, ...this.env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.child = child;
    const keep = (chunk: Buffer): void => {
      this.output = (this.output + chunk.toString()).slice(-10_000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    child.on('message', (message: InstanceMessage) => {
      this.metrics = message.metrics;
      if (message.state !== undefined) this.state = message.state;
      this.wake();
    });
    child.on('exit', () => {
      if (this.child === child) this.child = null;
      this.wake();
    });
  }

  /** Resolves when the app has reached `state`; rejects when its process ended first. */
  async until(state: StreamsState): Promise<void> {
    while (this.state !== state) {
      if (this.child === null) throw new Error(`instance ${this.name} ended before it was ${state}:\n${this.output}`);
      await this.change();
    }
  }

  /** kill -9. */
  kill(): void {
    this.state = 'killed';
    this.child?.kill('SIGKILL');
  }

  /** Ends the app in good order; resolves when its process is gone. */
  async stop(): Promise<void> {
    this.child?.kill('SIGTERM');
    while (this.child !== null) await this.change();
  }

  /** Ends the process at once, whatever it does. */
  abandon(): void {
    this.child?.kill('SIGKILL');
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  private wake(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
