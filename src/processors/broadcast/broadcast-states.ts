/** The broadcast states of one task, and who may write them when: only the work on a broadcast record. */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import { MillraceError } from '../../errors.js';
import { keyValueStore } from '../connected-store.js';
import type { OperatorContext } from '../operator.js';
import { undeclaredState } from '../undeclared-state.js';
import { requireMapKey } from '../state/map-key.js';
import type { MapStateDescriptor } from '../state/state-descriptor.js';
import type { BroadcastState, ReadonlyBroadcastState } from './broadcast-state.js';
import { BroadcastTable } from './broadcast-table.js';

/** A state of a broadcast stream, and the store it has in one operator. */
export interface BroadcastStateStore {
  readonly descriptor: MapStateDescriptor<unknown, unknown>;
  readonly storeName: string;
}

export class BroadcastStates {
  private readonly tables = new Map<object, BroadcastTable<unknown, unknown>>();
  private readonly node: string;
  /** A broadcast record is in work. */
  private isOpen = false;
  private loading: Promise<void> | null = null;
  private loaded = false;

  constructor(context: OperatorContext, states: readonly BroadcastStateStore[]) {
    this.node = context.nodeName;
    const timestamp = (): number => Math.max(0, context.record.timestamp);
    for (const { descriptor, storeName } of states)
      this.tables.set(descriptor, new BroadcastTable(descriptor, keyValueStore(context, storeName), timestamp));
  }

  load(): Promise<void> {
    this.loading ??= this.loadAll();
    return this.loading;
  }

  /** Runs what may look at the states. They are read back before the task's first record, but timers may come before that. */
  whenLoaded(work: () => MaybeAsync): MaybeAsync {
    return this.loaded ? work() : this.load().then(work);
  }

  private async loadAll(): Promise<void> {
    for (const table of this.tables.values()) await table.load();
    this.loaded = true;
  }

  /** The work on one broadcast record: meanwhile the states may be written. */
  during(work: () => MaybeAsync): MaybeAsync {
    this.isOpen = true;
    let pending: MaybeAsync;
    try {
      pending = work();
    } catch (error) {
      this.isOpen = false;
      throw error;
    }
    if (pending === undefined) {
      this.isOpen = false;
      return;
    }
    return pending.finally(() => {
      this.isOpen = false;
    });
  }

  /** @throws MILL_STATE_INVALID unless a broadcast record is in work */
  mustBeOpen(what: string): void {
    if (this.isOpen) return;
    throw new MillraceError(
      'MILL_STATE_INVALID',
      `${this.node} calls ${what} outside of \`processBroadcast\`: only there may broadcast state be written and all keys be gone through, since every task must do the same.`,
      { details: { node: this.node } },
    );
  }

  /** @throws MILL_TOPOLOGY_UNKNOWN_STORE when the broadcast stream does not declare the state */
  reader<UK, UV>(descriptor: MapStateDescriptor<UK, UV>): ReadonlyBroadcastState<UK, UV> {
    const table = this.table(descriptor);
    // Not the table itself: plain JavaScript would find its `put`.
    return Object.freeze<ReadonlyBroadcastState<UK, UV>>({
      get: (key) => table.get(key),
      has: (key) => table.has(key),
      keys: () => table.keys(),
      values: () => table.values(),
      entries: () => table.entries(),
      isEmpty: () => table.isEmpty(),
    });
  }

  /** @throws MILL_TOPOLOGY_UNKNOWN_STORE as `reader`; its writes MILL_STATE_INVALID when no broadcast record is in work */
  writer<UK, UV>(descriptor: MapStateDescriptor<UK, UV>): BroadcastState<UK, UV> {
    const table = this.table(descriptor);
    return Object.freeze<BroadcastState<UK, UV>>({
      ...this.reader(descriptor),
      put: (key, value) => {
        this.mustBeOpen(`put of ${descriptor.name}`);
        requireMapKey('put', descriptor.name, key);
        if (value === null || value === undefined) table.remove(key);
        else table.put(key, value);
      },
      remove: (key) => {
        this.mustBeOpen(`remove of ${descriptor.name}`);
        requireMapKey('remove', descriptor.name, key);
        table.remove(key);
      },
      clear: () => {
        this.mustBeOpen(`clear of ${descriptor.name}`);
        table.clear();
      },
    });
  }

  private table<UK, UV>(descriptor: MapStateDescriptor<UK, UV>): BroadcastTable<UK, UV> {
    const table = this.tables.get(descriptor);
    if (table !== undefined) return table as unknown as BroadcastTable<UK, UV>;
    const declared = [...this.tables.keys()] as { readonly name: string }[];
    throw undeclaredState(`${this.node}: broadcast state`, descriptor, '`states` of `broadcast`', declared, { node: this.node });
  }
}
