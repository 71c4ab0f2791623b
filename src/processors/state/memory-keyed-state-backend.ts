/** Keyed state in a map, with snapshots: for tests and harnesses, and the measure for the backend over a store. */
import { MillraceError } from '../../errors.js';
import type { KeyedStateBackend, StateRow, StateRows } from './keyed-state-backend.js';
import { keyIdentity } from './key-identity.js';
import type { AnyStateDescriptor } from './state-descriptor.js';

type Rows = Map<unknown, Map<string, StateRow>>;

/** State → key → namespace → row. */
export type MemorySnapshot = ReadonlyMap<string, Rows>;

export class MemoryKeyedStateBackend implements KeyedStateBackend {
  private key: unknown = null;
  private readonly descriptors = new Map<string, AnyStateDescriptor>();
  private readonly states: Map<string, Rows>;

  constructor(snapshot: MemorySnapshot = new Map()) {
    this.states = structuredClone(snapshot) as Map<string, Rows>;
  }

  currentKey(): unknown {
    return this.key;
  }

  setCurrentKey(key: unknown): void {
    this.key = key;
  }

  rows<R extends StateRow>(descriptor: AnyStateDescriptor): StateRows<R> {
    const { name } = descriptor;
    const known = this.descriptors.get(name);
    if (known !== undefined && known !== descriptor) {
      throw new MillraceError('MILL_TOPOLOGY_DUPLICATE_NAME', `Two states are named ${name}.`, { details: { state: name } });
    }
    this.descriptors.set(name, descriptor);
    const rows: Rows = this.states.get(name) ?? new Map<unknown, Map<string, StateRow>>();
    this.states.set(name, rows);
    return new MemoryRows(rows, () => keyIdentity(this.key)) as unknown as StateRows<R>;
  }

  /** Rows of all keys, states and namespaces. */
  get entries(): number {
    let count = 0;
    for (const rows of this.states.values()) for (const namespaces of rows.values()) count += namespaces.size;
    return count;
  }

  snapshot(): MemorySnapshot {
    return structuredClone(this.states);
  }
}

class MemoryRows implements StateRows<StateRow> {
  constructor(
    private readonly rows: Rows,
    private readonly keyId: () => unknown,
  ) {}

  get(namespace: string): StateRow | null {
    return this.rows.get(this.keyId())?.get(namespace) ?? null;
  }

  put(namespace: string, row: StateRow): void {
    const id = this.keyId();
    const namespaces = this.rows.get(id);
    if (namespaces === undefined) this.rows.set(id, new Map([[namespace, row]]));
    else namespaces.set(namespace, row);
  }

  remove(namespace: string): void {
    const id = this.keyId();
    const namespaces = this.rows.get(id);
    if (namespaces?.delete(namespace) === true && namespaces.size === 0) this.rows.delete(id);
  }
}
