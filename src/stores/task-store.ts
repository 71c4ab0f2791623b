import type { ChangelogIdentity, StoreMeta } from './engine-meta.js';
import type { EpochState } from './epoch-state.js';
import { JoinWindowState } from './join-window-state.js';
import { KeyValueState } from './key-value-state.js';
import { LruKeyValueStore } from './lru-key-value-store.js';
import { PlainKeyValueStore } from './plain-key-value-store.js';
import { PlainWindowStore } from './plain-window-store.js';
import { readerOf } from './reading/reader-of.js';
import type { StoreReader } from './reading/store-reader.js';
import { layoutOf } from './segment-interval.js';
import { SegmentedState } from './segmented-state.js';
import { SessionState } from './session-state.js';
import { SlidingWindowState } from './sliding-window-state.js';
import type { StateStore } from './store.js';
import type { StoreEnvironment } from './store-environment.js';
import type { StoreMarks } from './store-marks.js';
import { TimeOrderedBufferState } from './time-ordered-buffer-state.js';
import { VersionedState } from './versioned-state.js';
import { WindowState } from './window-state.js';

/** One store as its task holds it: its state, what operators get to see, and where its changelog stands. */
export class TaskStore {
  readonly name: string;
  readonly state: EpochState;
  readonly facade: StateStore;
  /** Next changelog offset to apply, as the engine has it or is about to; null: not known. */
  position: number | null = null;
  changelog: ChangelogIdentity | null = null;
  /** Wall clock at which `position` was current, ms; null: not known. */
  notedAt: number | null = null;
  /** As of the epoch that the engine has, or is about to have. */
  marks: StoreMarks;
  /** True when the engine had the store before. */
  resumed = false;
  private madeReader: StoreReader | null = null;

  constructor(environment: StoreEnvironment) {
    this.name = environment.spec.name;
    const recordTimestamp = (): number => environment.recordTimestamp();
    switch (environment.spec.kind) {
      case 'keyValue': {
        const state = new KeyValueState<unknown, unknown>(environment);
        const { maxEntries } = environment.spec;
        this.state = state;
        this.facade =
          maxEntries === undefined
            ? new PlainKeyValueStore(state, recordTimestamp)
            : new LruKeyValueStore(state, recordTimestamp, maxEntries);
        break;
      }
      case 'timestampedKeyValue':
        this.facade = this.state = new KeyValueState<unknown, unknown>(environment);
        break;
      case 'window': {
        const state = new WindowState<unknown, unknown>(environment);
        this.state = state;
        this.facade = new PlainWindowStore(state, recordTimestamp);
        break;
      }
      case 'timestampedWindow':
        this.facade = this.state = new WindowState<unknown, unknown>(environment);
        break;
      case 'session':
        this.facade = this.state = new SessionState<unknown, unknown>(environment);
        break;
      case 'slidingWindow':
        this.facade = this.state = new SlidingWindowState<unknown, unknown>(environment);
        break;
      case 'joinWindow':
        this.facade = this.state = new JoinWindowState<unknown, unknown>(environment);
        break;
      case 'versioned':
        this.facade = this.state = new VersionedState<unknown, unknown>(environment);
        break;
      case 'timeOrderedBuffer':
        this.facade = this.state = new TimeOrderedBufferState<unknown, unknown>(environment);
        break;
    }
    this.marks = this.state.marks();
  }

  get expiredWrites(): number {
    const { state } = this;
    return state instanceof WindowState || state instanceof SegmentedState || state instanceof JoinWindowState ? state.expiredWrites : 0;
  }

  /** For queries. Errors: MILL_STORE_WRONG_TYPE. */
  get reader(): StoreReader {
    this.madeReader ??= readerOf(this.state);
    return this.madeReader;
  }

  resume(known: StoreMeta): void {
    this.resumed = true;
    this.position = known.position;
    this.changelog = known.changelog;
    this.notedAt = known.notedAt ?? null;
    this.marks = known.marks;
    this.state.adoptMarks(known.marks);
  }

  forget(): void {
    this.position = null;
    this.state.reset();
    this.marks = this.state.marks();
  }

  meta(): StoreMeta {
    const { id, kind, spec } = this.state;
    const { position, changelog, marks, notedAt } = this;
    return { id, kind, layout: layoutOf(spec), position, changelog, marks, ...(notedAt !== null && { notedAt }) };
  }
}
