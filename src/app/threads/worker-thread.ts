import { Worker } from 'node:worker_threads';
import { MillraceError } from '../../errors.js';
import { delay } from '../../kafka/backoff.js';
import type { StateQueryRequest } from '../../queries/state-query.js';
import type { EndOffsets } from '../app-engine.js';
import { resourceLimits, type ThreadResourceLimits } from '../thread-limits.js';
import { MessageCalls, type CallHandlers, type EventHandlers } from './message-calls.js';
import { receiveError, sendError } from './sent-error.js';
import type { SentOutcome } from './sent-query.js';
import type { AppSide, SentPage, SentRead, ThreadReport, ThreadSetup, ThreadSide, ThreadStart } from './thread-protocol.js';
import { workerEntry } from './worker-entry.js';

/** How long a thread that is not waited for may still take to let go, ms. */
const abandonWithinMs = 1_500;

export interface WorkerThreadParts {
  readonly setup: ThreadSetup;
  readonly name: string;
  readonly limits: ThreadResourceLimits;
  readonly calls: CallHandlers<AppSide['calls']>;
  readonly events: EventHandlers<AppSide['events']>;
  /** The worker has ended although nobody asked it to, after its start. */
  readonly onCrash: (error: MillraceError) => void;
  /** The worker has ended, for whatever reason: its databases are closed. */
  readonly onExit: () => void;
}

/** A stream thread as the app sees it: its worker, and the line to it. */
export class WorkerThread {
  /** As last told. */
  report: ThreadReport | null = null;
  private isAskedToReport = false;
  /** Set to 0 with every word of the thread; whoever watches counts up. */
  beatsMissed = 0;
  private readonly worker: Worker;
  private readonly line: MessageCalls<AppSide, ThreadSide>;
  private readonly exited: Promise<void>;
  private failure: unknown = null;
  private killedBecause: string | null = null;
  private phase: 'starting' | 'running' | 'ending' | 'gone' = 'starting';

  constructor(private readonly parts: WorkerThreadParts) {
    const { setup, calls, events, name, limits } = parts;
    this.worker = new Worker(workerEntry(setup.module), { workerData: setup, name, resourceLimits: resourceLimits(limits) });
    this.line = new MessageCalls<AppSide, ThreadSide>(this.worker, calls, {
      ...events,
      report: (report) => {
        this.report = report;
        this.isAskedToReport = false;
        events.report(report);
      },
    });
    this.worker.on('message', () => {
      this.beatsMissed = 0;
    });
    this.worker.on('error', (error) => {
      this.failure = error;
    });
    this.exited = new Promise((resolve) => {
      this.worker.on('exit', (code) => {
        resolve();
        this.gone(crashOf(setup.index, this.killedBecause, this.failure, code));
      });
    });
  }

  get index(): number {
    return this.parts.setup.index;
  }

  get life(): number {
    return this.parts.setup.life;
  }

  /** Has the thread tell soon how it stands. */
  refresh(): void {
    if (this.isAskedToReport || this.phase !== 'running') return;
    this.isAskedToReport = true;
    this.tell('reportNow', null);
  }

  async start(options: ThreadStart): Promise<void> {
    this.report = await this.line.call('start', options);
    if (this.phase === 'starting') this.phase = 'running';
  }

  /** Closes in good order, and ends the worker. Does nothing when it is gone. */
  async close(clean: boolean, leaveGroup: boolean | null, handoverMs: number): Promise<void> {
    if (this.phase === 'gone') return;
    this.phase = 'ending';
    try {
      this.report = await this.line.call('close', { clean, leaveGroup, handoverMs });
    } finally {
      await this.terminate();
    }
  }

  /** Ends the worker whatever it does, after a moment in which it may let go by itself. */
  async abandon(): Promise<void> {
    if (this.phase === 'gone') return;
    this.phase = 'ending';
    const letGo = this.line.call('abandon', null).catch(() => undefined);
    await Promise.race([letGo, delay(abandonWithinMs)]);
    await this.terminate();
  }

  /** Ends the worker as if it had ended by itself. */
  kill(reason: string): void {
    this.killedBecause = reason;
    void this.worker.terminate();
  }

  untilComplete(): Promise<EndOffsets> {
    return this.line.call('untilComplete', null);
  }

  read(takes: ThreadSide['calls']['read']['takes']): Promise<SentRead> {
    return this.line.call('read', takes);
  }

  query(request: StateQueryRequest<unknown>): Promise<readonly SentOutcome[]> {
    return this.line.call('query', request);
  }

  page(rows: number): Promise<SentPage> {
    return this.line.call('page', rows);
  }

  async closeRows(rows: number): Promise<void> {
    await this.line.call('closeRows', rows);
  }

  /** Whether it has its tasks and is not being ended. */
  get isRunning(): boolean {
    return this.phase === 'running';
  }

  tell<N extends keyof ThreadSide['events']>(name: N, says: ThreadSide['events'][N]): void {
    if (this.phase !== 'gone') this.line.tell(name, says);
  }

  private async terminate(): Promise<void> {
    await this.worker.terminate();
    await this.exited;
  }

  private gone(error: MillraceError): void {
    const before = this.phase;
    this.phase = 'gone';
    this.line.end(before === 'ending' ? new MillraceError('MILL_STATE_INVALID', `stream thread ${this.index} has ended`) : error);
    this.parts.onExit();
    if (before === 'running') this.parts.onCrash(error);
  }
}

function crashOf(index: number, killedBecause: string | null, failure: unknown, code: number): MillraceError {
  const details = { thread: index, exitCode: code };
  if (killedBecause !== null)
    return new MillraceError('MILL_THREAD_CRASHED', `stream thread ${index} was ended: ${killedBecause}`, { details });
  if (failure === null)
    return new MillraceError('MILL_THREAD_CRASHED', `stream thread ${index} ended by process.exit(${code})`, { details });
  const isMemory = (failure as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
  const what = isMemory
    ? 'reached the limit of its JavaScript heap (threadResourceLimits.maxOldGenerationSizeMb, or Node’s own)'
    : `ended by an error that nothing caught: ${receiveError(sendError(failure)).message}`;
  return new MillraceError('MILL_THREAD_CRASHED', `stream thread ${index} ${what}`, { cause: failure, details });
}
