import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { AppMetrics, RestoreProgress, StreamsState } from '../../src/index.js';
import type { JobCalls, JobMessage } from '../exactly-once/job-messages.js';
import { until } from './until.js';

const jobFile = fileURLToPath(new URL('../exactly-once/job.ts', import.meta.url));
const rememberedLines = 120;

/** One instance of the job: its process, and what it has told so far. A process that was killed may be started again. */
export class JobProcess {
  state: StreamsState = 'created';
  private hasRun = false;
  /** Of earlier lives. */
  private errorsBefore = 0;
  readonly errors: { readonly code: string; readonly message: string }[] = [];
  /** Restores that came to their end, over all lives of the instance. */
  readonly restored: RestoreProgress[] = [];
  metrics: AppMetrics | null = null;
  /** Of the present process, as of the last `measure`. */
  calls: JobCalls | null = null;
  /** Told of every message, before anything waits for it. */
  onMessage: (message: JobMessage) => void = () => undefined;
  private child: ChildProcess | null = null;
  private lines: string[] = [];
  private asked = 0;
  private answered = 0;

  constructor(
    readonly name: string,
    /** What the process is told; the job's own unless it runs another file. */
    private readonly setup: object,
    private readonly env: Readonly<Record<string, string>> = {},
    private readonly file: string = jobFile,
  ) {}

  get isAlive(): boolean {
    return this.child !== null;
  }

  get pid(): number {
    return this.child?.pid ?? -1;
  }

  /** What the job logged last, oldest first. */
  get log(): readonly string[] {
    return this.lines;
  }

  start(): void {
    if (this.child !== null) throw new Error(`${this.name} runs already`);
    this.state = 'created';
    this.hasRun = false;
    this.errorsBefore = this.errors.length;
    this.metrics = null;
    this.asked = this.answered = 0;
    const child = spawn(process.execPath, ['--import', 'tsx', this.file], {
      env: {
        ...process.env,
        TSX_DISABLE_CACHE: process.env['TSX_DISABLE_CACHE'] ?? '',
        ...this.env,
        JOB_SETUP: JSON.stringify(this.setup),
        NODE_OPTIONS: '',
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.child = child;
    this.remember(`--- started ${child.pid}`);
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => this.remember(text.toString()));
    child.on('message', (message: JobMessage) => {
      if (this.child === child) this.take(message);
    });
    child.on('exit', (code, signal) => {
      this.remember(`--- ended ${child.pid} ${code ?? signal}`);
      if (this.child === child) this.child = null;
    });
  }

  /** kill -9, at once; resolves when the process is gone. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === null) return;
    const gone = once(child, 'exit');
    this.child = null;
    child.kill('SIGKILL');
    await gone;
  }

  /** SIGSTOP: the process does nothing any more and knows nothing of it. */
  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  async untilState(state: StreamsState, deadlineMs?: number): Promise<void> {
    await this.untilSo(`${this.name} is ${state}`, () => this.state === state, deadlineMs);
  }

  /** Waits for something that the living process does; its log is told when it does not. */
  async untilSo(what: string, condition: () => boolean | Promise<boolean>, deadlineMs?: number): Promise<void> {
    await until(
      what,
      async () => {
        if (await condition()) return true;
        if (this.child === null) throw new Error(`${this.name} ended while waiting for: ${what}\n${this.story()}`);
        return false;
      },
      deadlineMs,
      () => this.story(),
    );
  }

  /** Metrics as of now. */
  async measure(): Promise<AppMetrics> {
    this.send('metrics');
    const question = ++this.asked;
    await this.untilSo(`metrics of ${this.name}`, () => this.answered >= question);
    return this.metrics as AppMetrics;
  }

  /** Closes the app in good order, once it has started; resolves when the process has ended by itself. */
  async close(deadlineMs?: number): Promise<void> {
    if (this.child === null) return;
    // A start that is cut short by a close is an error of its own, told by `start()`.
    await this.untilSo(`${this.name} has started`, () => this.hasRun || this.errors.length > this.errorsBefore, deadlineMs);
    this.send('close');
    await this.untilGone(deadlineMs);
  }

  /** Resolves when the process has ended by itself. */
  async untilGone(deadlineMs?: number): Promise<void> {
    await until(
      `${this.name} ends`,
      () => this.child === null,
      deadlineMs,
      () => this.story(),
    );
  }

  /** One of the commands of the file that it runs. */
  send(command: string): void {
    // It may end just now, which its exit tells.
    this.child?.send(command, () => undefined);
  }

  story(): string {
    return [`${this.name}: state ${this.state}, errors ${JSON.stringify(this.errors)}`, ...this.lines].join('\n');
  }

  private take(message: JobMessage): void {
    if (message.kind === 'state') {
      this.state = message.state;
      this.hasRun ||= message.state === 'running';
    } else if (message.kind === 'error') this.errors.push({ code: message.code, message: message.message });
    else if (message.kind === 'restored') this.restored.push(message.progress);
    else if (message.kind === 'metrics') {
      this.metrics = message.metrics;
      this.calls = message.calls;
      this.answered++;
    }
    if (message.kind === 'log') this.remember(`${message.level} ${message.message} ${message.fields}`);
    else if (message.kind === 'state' || message.kind === 'error') this.remember(JSON.stringify(message));
    this.onMessage(message);
  }

  private remember(line: string): void {
    this.lines.push(`${new Date().toISOString().slice(14, 23)} ${line.slice(0, 600)}`);
    if (this.lines.length > rememberedLines) this.lines = this.lines.slice(-rememberedLines);
  }
}

export async function activeTasks(instance: JobProcess): Promise<number> {
  return Object.values((await instance.measure()).tasks).filter(({ active }) => active).length;
}
