/** The parts that a first stage holds, by slice of event time and key. */
import { keyIdentity } from '../state/key-identity.js';
import type { Serde } from '../../serdes/serde.js';

export interface HeldPart<K, A> {
  readonly key: K;
  aggregate: A;
  /** The highest of its records. */
  timestamp: number;
  records: number;
}

type PartsOfSlice<K, A> = Map<unknown, HeldPart<K, A>>;

export class HeldParts<K, A> {
  size = 0;
  private slices = new Map<number, PartsOfSlice<K, A>>();
  /** Most records are of the slice of the one before. */
  private lastSlice = NaN;
  private ofLast: PartsOfSlice<K, A> = new Map();

  constructor(private readonly keySerde: Serde<K>) {}

  idOf(key: K): unknown {
    return keyIdentity(key, this.keySerde);
  }

  get(slice: number, id: unknown): HeldPart<K, A> | undefined {
    return this.of(slice).get(id);
  }

  add(slice: number, id: unknown, part: HeldPart<K, A>): void {
    this.of(slice).set(id, part);
    this.size++;
  }

  /** Gives all of them up, those of the earliest slice first. */
  takeAll(): Iterator<HeldPart<K, A>> {
    const taken = [...this.slices].sort(([one], [other]) => one - other);
    this.slices = new Map();
    this.lastSlice = NaN;
    this.size = 0;
    return inOrder(taken);
  }

  private of(slice: number): PartsOfSlice<K, A> {
    if (slice === this.lastSlice) return this.ofLast;
    let parts = this.slices.get(slice);
    if (parts === undefined) this.slices.set(slice, (parts = new Map<unknown, HeldPart<K, A>>()));
    this.lastSlice = slice;
    this.ofLast = parts;
    return parts;
  }
}

function* inOrder<K, A>(slices: readonly (readonly [number, PartsOfSlice<K, A>])[]): Generator<HeldPart<K, A>> {
  for (const [, parts] of slices) yield* parts.values();
}
