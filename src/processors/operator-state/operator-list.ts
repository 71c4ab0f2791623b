/**
 * One list of one task over a store of the task, so that it is logged, restored, kept by standbys and committed with the epoch. Each element is a row under its place in the list.
 *
 * Invariant: there are rows at 0 … length - 1 and nowhere else, after every single write. So nothing but the store need know the length, and it is found with a few reads when the
 * list is first used.
 */
import type { TimestampedKeyValueStore } from '../../stores/store.js';
import { copiedValue, storedValue } from '../state/copied-value.js';
import { requireElement, requireElements } from '../state/list-element.js';
import type { OperatorListState } from './operator-list-state.js';
import type { OperatorListStateDescriptor } from './operator-state-descriptor.js';

export class OperatorList<V> implements OperatorListState<V> {
  private known: number | null = null;

  /** @param timestamp time of the record in work, ms: that of the changelog records */
  constructor(
    private readonly descriptor: OperatorListStateDescriptor<V>,
    private readonly store: TimestampedKeyValueStore<number, V>,
    private readonly timestamp: () => number,
  ) {}

  get(): V[] {
    const { serde } = this.descriptor;
    return Array.from({ length: this.length() }, (_, at) => copiedValue(this.store.get(at) as V, serde));
  }

  add(value: V): void {
    this.write(this.length(), [this.checked('add', value)]);
  }

  addAll(values: readonly V[]): void {
    this.write(this.length(), this.allChecked('addAll', values));
  }

  update(values: readonly V[]): void {
    const elements = this.allChecked('update', values);
    this.write(0, elements);
    this.cut(elements.length);
  }

  clear(): void {
    this.cut(0);
  }

  private write(from: number, elements: readonly V[]): void {
    const before = this.length();
    for (const [i, element] of elements.entries()) {
      this.store.put(from + i, element, this.timestamp());
      this.known = Math.max(before, from + i + 1);
    }
  }

  /** From the end on, so that a list which is not done with has no hole. */
  private cut(length: number): void {
    for (let last = this.length() - 1; last >= length; last--) {
      this.store.put(last, null, this.timestamp());
      this.known = last;
    }
  }

  private length(): number {
    this.known ??= this.counted();
    return this.known;
  }

  private counted(): number {
    let [present, missing] = [0, 1];
    while (this.has(missing - 1)) [present, missing] = [missing, missing * 2];
    while (missing - present > 1) {
      const middle = (present + missing) >>> 1;
      if (this.has(middle - 1)) present = middle;
      else missing = middle;
    }
    return present;
  }

  private has(at: number): boolean {
    return this.store.get(at) !== null;
  }

  private allChecked(call: string, values: readonly V[]): V[] {
    requireElements(call, this.descriptor.name, values);
    return values.map((value) => this.checked(call, value));
  }

  /** The element as storage gives it back: what the serde does not take fails the record here, and not the epoch later. */
  private checked(call: string, value: V): V {
    const { name, serde } = this.descriptor;
    requireElement(call, name, value);
    const element: V | null | undefined = storedValue(value, serde);
    if (element !== null && element !== undefined) return element;
    throw new TypeError(`${call} of ${name}: serde ${serde.name} makes ${String(element)} of an element, and lists have none such`);
  }
}
