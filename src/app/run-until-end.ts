import { MillraceError } from '../errors.js';
import { anyObject, flag, milliseconds, requireOptions, type ShapeOf } from '../errors/checked-options.js';
import type { InputEnd } from '../transactions/committed-metadata.js';
import type { BoundedWork, EndOffsets } from './app-engine.js';
import type { AppMetrics } from './app-metrics.js';
import type { StreamsState } from './streams-app.js';

/** How a bounded run ends. */
export interface RunUntilEndOptions {
  /**
   * Whether results that wait for time are told at the end: windows and sessions that are open, what `suppress` holds, join records without a partner, timers in
   * event time. Default true. False for a job that goes on with the same windows at its next run.
   */
  readonly finalResults?: boolean;
  /** For the `close` at the end, ms. Default 30 000. */
  readonly closeTimeout?: number;
  /** Ends the run early: what is processed is committed, and the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What a bounded run did, on this instance. */
export interface RunSummary {
  /** Records that tasks of this instance took, repartition topics included. */
  readonly recordsIn: number;
  /** Records of committed epochs, changelogs included. */
  readonly recordsOut: number;
  readonly epochs: number;
  /** Where the run ended: by topic, then partition. */
  readonly offsets: EndOffsets;
}

/** What a bounded run asks of its app. */
export interface BoundedApp {
  onState(listener: (state: StreamsState) => void): () => void;
  onError(listener: () => void): () => void;
  /** Starts the app with bounds. */
  begin(end: InputEnd): Promise<BoundedWork | null>;
  /** Nothing, when it was not begun here. */
  close(timeout: number | undefined): Promise<void>;
  failure(): Error | null;
  metrics(): AppMetrics;
}

const shape = { finalResults: flag, closeTimeout: milliseconds, signal: anyObject } satisfies ShapeOf<RunUntilEndOptions>;

/** The life of an app that ends by itself. */
export async function runBounded(app: BoundedApp, options: RunUntilEndOptions): Promise<RunSummary> {
  requireOptions('runUntilEnd', options, shape, 'MILL_CONFIG_INVALID');
  const { finalResults = true, closeTimeout, signal } = options;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const abort = (): void => {
    stop.abort(new MillraceError('MILL_STATE_INVALID', 'the app was closed before the end of its input'));
  };
  const offs = [
    app.onState((state) => {
      if (state !== 'rebalancing' && state !== 'running') abort();
    }),
    // The promise tells of it.
    app.onError(() => undefined),
  ];
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const begun = await app.begin(finalResults ? 'final' : 'read');
    if (begun === null) throw new MillraceError('MILL_INVARIANT', 'a bounded run has begun without bounds');
    const offsets = await begun.untilComplete(stop.signal);
    await app.close(closeTimeout);
    return summaryOf(app.metrics(), offsets);
  } catch (error) {
    await app.close(closeTimeout).catch(() => undefined);
    throw app.failure() ?? (signal?.aborted === true ? signal.reason : error);
  } finally {
    for (const off of offs) off();
    signal?.removeEventListener('abort', abort);
  }
}

function summaryOf({ tasks, epochs }: AppMetrics, offsets: EndOffsets): RunSummary {
  const recordsIn = Object.values(tasks).reduce((sum, task) => sum + task.recordsProcessed, 0);
  return { recordsIn, recordsOut: epochs?.recordsProduced ?? 0, epochs: epochs?.epochs ?? 0, offsets };
}
