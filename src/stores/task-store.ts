import type { ChangelogIdentity, StoreMeta } from './engine-meta.js';
import type { AnyState } from './epoch-log.js';
import { KeyValueState } from './key-value-state.js';
import { PlainKeyValueStore } from './plain-key-value-store.js';
import { PlainWindowStore } from './plain-window-store.js';
import type { StateStore } from './store.js';
import type { StoreEnvironment } from './store-environment.js';
import type { StoreMarks } from './store-marks.js';
import { WindowState } from './window-state.js';

/** One store as its task holds it: its state, what operators get to see, and where its changelog stands. */
export class TaskStore {
  readonly name: string;
  readonly state: AnyState;
  readonly facade: StateStore;
  /** Next changelog offset to apply, as the engine has it or is about to; null: not known. */
  position: number | null = null;
  changelog: ChangelogIdentity | null = null;
  /** As of the epoch that the engine has, or is about to have. */
  marks: StoreMarks;
  /** True when the engine had the store before. */
  resumed = false;

  constructor(environment: StoreEnvironment) {
    this.name = environment.spec.name;
    const recordTimestamp = (): number => environment.recordTimestamp();
    switch (environment.spec.kind) {
      case 'keyValue': {
        const state = new KeyValueState<unknown, unknown>(environment);
        this.state = state;
        this.facade = new PlainKeyValueStore(state, recordTimestamp);
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
    }
    this.marks = this.state.marks();
  }

  get expiredWrites(): number {
    return this.state instanceof WindowState ? this.state.expiredWrites : 0;
  }

  resume(known: StoreMeta): void {
    this.resumed = true;
    this.position = known.position;
    this.changelog = known.changelog;
    this.marks = known.marks;
    this.state.adoptMarks(known.marks);
  }

  forget(): void {
    this.position = null;
    this.state.reset();
    this.marks = this.state.marks();
  }

  meta(): StoreMeta {
    return { id: this.state.id, kind: this.state.kind, position: this.position, changelog: this.changelog, marks: this.marks };
  }
}
