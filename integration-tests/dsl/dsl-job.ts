import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StreamsConfig, StreamsState } from '../../src/index.js';
import { until } from '../faults/until.js';
import type { DslJobMessage } from './job.js';

const jobFile = fileURLToPath(new URL('./job.ts', import.meta.url));

/** A process with one instance of all families. One that was killed may be started again. */
export class DslJob {
  state: StreamsState = 'created';
  readonly errors: string[] = [];
  private child: ChildProcess | null = null;
  private printed = '';

  constructor(private readonly config: StreamsConfig) {}

  async start(): Promise<void> {
    this.state = 'created';
    const child = (this.child = spawn(process.execPath, ['--import', 'tsx', jobFile], {
      env: { ...process.env, JOB_CONFIG: JSON.stringify(this.config), NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    }));
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (text: Buffer) => {
        this.printed = (this.printed + text.toString()).slice(-4000);
      });
    child.on('message', (message: DslJobMessage) => {
      if ('error' in message) this.errors.push(message.error);
      else if (this.child === child) this.state = message.state;
    });
    await until(
      'the process runs its tasks',
      () => this.state === 'running',
      40_000,
      () => this.story(),
    );
  }

  /** kill -9; resolves when the process is gone. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === null) return;
    this.child = null;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** Ends the instance in good order. */
  async close(): Promise<void> {
    const { child } = this;
    if (child === null) return;
    this.child = null;
    const gone = once(child, 'exit');
    child.send('close');
    await gone;
  }

  story(): string {
    return [`state ${this.state}`, ...this.errors, this.printed].join('\n');
  }
}
