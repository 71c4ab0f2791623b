/** An app in a process of its own, and its line to the test that started it: it tells what happens, and ends when it is told to, or with its test. */
import { MillraceError, type Logger, type StreamsApp } from 'millrace';
import type { JobCalls, JobMessage } from './job-messages.js';

export function tell(message: JobMessage): void {
  if (process.connected) process.send?.(message);
}

export function tellError(error: unknown): void {
  tell({ kind: 'error', code: error instanceof MillraceError ? error.code : '', message: String(error) });
}

export interface JobOptions {
  /** Stops at the end of its input. */
  readonly bounded?: boolean;
  /** What the process has called, told with the metrics. */
  readonly calls?: () => JobCalls;
  /** Gets commands that are neither `metrics` nor `close`. */
  readonly onCommand?: (command: string) => void;
}

/** Starts the app. Of its state, errors, restores and, when asked, metrics the test is told. */
export function runJob(app: StreamsApp, options: JobOptions = {}): void {
  const calls = options.calls ?? (() => ({ records: 0, calledAgain: [] }));
  const tellMetrics = (): void => tell({ kind: 'metrics', metrics: app.metrics(), calls: calls() });

  app.on('state', (state) => tell({ kind: 'state', state }));
  app.on('error', tellError);
  app.setRestoreListener({
    onStart: (progress) => tell({ kind: 'restoring', progress }),
    onEnd: (progress) => tell({ kind: 'restored', progress }),
  });
  process.on('message', (command: string) => {
    if (command === 'metrics') tellMetrics();
    else if (command === 'close') endWith(app.close().catch(tellError).then(tellMetrics));
    else if (command === 'closeWithin') endWith(app.close({ timeout: 1000 }).catch(tellError).then(tellMetrics));
    else options.onCommand?.(command);
  });
  // Without its test the process has no reason to live.
  process.on('disconnect', () => process.exit(1));

  if (options.bounded === true) endWith(app.runUntilEnd().then(tellMetrics, tellError));
  else {
    app.start().catch((error: unknown) => {
      tellError(error);
      end();
    });
  }
}

/** A logger whose lines the test gets. */
export function toTest(bindings: Record<string, unknown> = {}): Logger {
  const at =
    (level: string) =>
    (fields: object, message: string): void =>
      tell({
        kind: 'log',
        level,
        message,
        fields: JSON.stringify({ ...bindings, ...fields, err: 'err' in fields ? String(fields.err) : undefined }),
      });
  return {
    debug: () => undefined,
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (more) => toTest({ ...bindings, ...more }),
  };
}

function endWith(done: Promise<unknown>): void {
  void done.finally(end);
}

/** Ends by itself, so that whatever the library left open keeps the process and shows in the test. */
function end(): void {
  process.removeAllListeners('disconnect');
  process.disconnect();
}
