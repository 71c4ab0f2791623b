import { StoreQueries } from '../queries/store-queries.js';
import { explainWatermarks } from '../runtime/explain-watermarks.js';
import type { WatermarkExplanation } from '../runtime/watermark-explanation.js';
import type { AppEngine, BoundedWork, EngineParts, StartOptions } from './app-engine.js';
import { refreshSizes, snapshotMetrics, type AppMetrics, type OwnMetrics } from './app-metrics.js';
import { AppParts } from './app-parts.js';
import { AppQueryHost } from './app-query-host.js';

/** One stream thread, in the JavaScript thread of whoever made the app. */
export class LocalEngine implements AppEngine {
  readonly queries: StoreQueries;
  readonly threads = null;
  private readonly parts: AppParts;

  constructor(private readonly given: EngineParts) {
    const { topology, config, serdes, platform, listener, state, groupView } = given;
    this.parts = new AppParts(topology, config, serdes, platform, listener);
    this.queries = new StoreQueries(
      new AppQueryHost({
        topology,
        serdes,
        state,
        built: () => this.parts.built,
        globals: () => this.parts.globals,
        groupView,
        processId: () => this.parts.directory?.processId ?? null,
      }),
    );
  }

  open(options: StartOptions): Promise<void> {
    return this.parts.open(options);
  }

  close(clean: boolean, leaveGroup: boolean | null, handoverMs: number): Promise<void> {
    return this.parts.close(clean, leaveGroup, handoverMs);
  }

  abandon(): Promise<void> {
    return this.parts.abandon();
  }

  giveUpCommit(): void {
    this.parts.built?.thread.stop(false).catch(() => undefined);
  }

  shutDownApplication(reason: string): boolean {
    this.parts.built?.shutDownApplication(reason);
    return this.parts.built !== null;
  }

  get isPaused(): boolean {
    return this.parts.isPaused;
  }

  set isPaused(paused: boolean) {
    this.parts.isPaused = paused;
  }

  metrics(own: OwnMetrics): AppMetrics {
    const { built, globals } = this.parts;
    refreshSizes(built, globals);
    return snapshotMetrics(own, built, globals);
  }

  explainWatermark(operator: string | null): WatermarkExplanation {
    const tasks = [...(this.parts.built?.thread.tasks.values() ?? [])].map(({ task }) => task);
    return explainWatermarks(this.given.topology, tasks, operator, Date.now());
  }

  bounded(): BoundedWork | null {
    const { run, built } = this.parts;
    if (run === null || built === null) return null;
    return {
      untilComplete: async (signal) => {
        await run.untilComplete(built, signal);
        return run.offsets;
      },
    };
  }
}
