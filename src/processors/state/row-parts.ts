/**
 * Lists and maps of one key in parts of bounded size, so that what is added to a long one writes a part and not the whole, and no changelog record is larger than the topic takes.
 *
 * The first part, the head, lies at the namespace itself and knows which others there are; a short list or map is its head and nothing else. What is added goes to the last part. Parts other
 * than the head may be missing: clean-up takes empty ones away by itself.
 */
import type { Serde } from '../../serdes/serde.js';
import type { ListRow, MapRow, StateRows } from './keyed-state-backend.js';
import { serialized } from '../../serdes/serialized.js';

/** A part takes elements up to so many bytes, and a few whatever their size. */
const partBytes = 64 * 1024;
/** Those of a short list or map are not measured as they come. */
const fewElements = 4;

/** Bytes beside each element: its time and its length. */
const overhead = 12;

const nowhere: readonly string[] = [];

export class RowParts<R extends ListRow | MapRow> {
  constructor(
    protected readonly rows: StateRows<R>,
    private readonly sizeOf: (row: R) => number,
  ) {}

  /** Where the parts are, in the order in which they were begun; one that is missing has no row there. Empty when there is no head. */
  places(namespace: string, head: R | null): readonly string[] {
    if (head === null) return nowhere;
    const { parts } = head;
    if (parts === null) return [namespace];
    return [namespace, ...Array.from({ length: parts.next - parts.first }, (_, i) => partPlace(namespace, parts.first + i))];
  }

  /** Where the next element goes, as far as there is room. */
  last(namespace: string, head: R): string {
    return head.parts === null ? namespace : partPlace(namespace, head.parts.next - 1);
  }

  /** A place for a new part behind all others. */
  begin(namespace: string, head: R): string {
    const parts = (head.parts ??= { first: 1, next: 1 });
    parts.next++;
    this.rows.put(namespace, head);
    return partPlace(namespace, parts.next - 1);
  }

  /** Puts a part back that was changed: one without elements goes, as far as it is not needed for the others. */
  putBack(namespace: string, place: string, row: R): void {
    if (this.sizeOf(row) > 0) this.rows.put(place, row);
    else if (place !== namespace) this.rows.remove(place);
    else if (row.parts === null) this.rows.remove(namespace);
    else this.rows.put(namespace, row);
  }

  /** After parts have gone: forgets those at either end, and all when nothing is left. */
  trim(namespace: string): void {
    const head = this.rows.get(namespace);
    if (head === null || head.parts === null) return;
    const { parts } = head;
    while (parts.first < parts.next && this.isMissing(namespace, parts.first)) parts.first++;
    while (parts.first < parts.next && this.isMissing(namespace, parts.next - 1)) parts.next--;
    if (parts.first === parts.next) head.parts = null;
    this.putBack(namespace, namespace, head);
  }

  clear(namespace: string): void {
    for (const place of this.places(namespace, this.rows.get(namespace))) this.rows.remove(place);
  }

  private isMissing(namespace: string, part: number): boolean {
    return this.rows.get(partPlace(namespace, part)) === null;
  }
}

/** Whether an element more is not measured. */
export function isShort(elements: number): boolean {
  return elements < fewElements;
}

/** @param bytes of the element that is to be added; 0 when it is not measured */
export function hasRoom(row: ListRow | MapRow, bytes: number): boolean {
  return row.storedBytes + bytes <= partBytes;
}

/** Bytes of a value as stored, and of what stands beside it. */
export function storedSize<V>(value: V, serde: Pick<Serde<V>, 'name' | 'serialize'>): number {
  return serialized(serde, value).length + overhead;
}

/** The namespace of a part behind the head. */
export function partPlace(namespace: string, part: number): string {
  return `${namespace}\u0000${part}`;
}
