/**
 * Versions of one key that lie in one segment, in order of time. Each ends where the next begins, the last one at `next`; a null value is a tombstone.
 *
 * A run may be empty in time: one tombstone with `next` equal to its own time. It marks that the key was deleted when nothing else is known of it in the
 * segment. Time between the `next` of a run and the first version of a later one is time in which the key was deleted.
 */
export interface Version<V> {
  readonly from: number;
  readonly value: V | null;
}

export class VersionRun<V> {
  constructor(
    readonly versions: Version<V>[],
    public next: number,
  ) {}

  static of<V>(from: number, value: V | null, next: number): VersionRun<V> {
    return new VersionRun([{ from, value }], next);
  }

  get first(): number {
    return (this.versions[0] as Version<V>).from;
  }

  private get emptyInTime(): boolean {
    return this.first === this.next;
  }

  /** Index of the version valid at `time`, which must not be before the first. */
  indexAt(time: number): number {
    let at = this.versions.length - 1;
    while (at > 0 && (this.versions[at] as Version<V>).from > time) at--;
    return at;
  }

  validTo(index: number): number {
    return this.versions[index + 1]?.from ?? this.next;
  }

  replace(index: number, version: Version<V>): void {
    this.versions[index] = version;
  }

  insertAfter(index: number, version: Version<V>): void {
    this.versions.splice(index + 1, 0, version);
  }

  /** Adds a version behind the last one. Whatever there is at or after its time gives way. */
  append(from: number, value: V | null, next: number): void {
    if (from < this.next) this.cutAt(from);
    if (this.emptyInTime) this.versions.length = 0;
    if (this.next !== from) this.versions.push({ from: this.next, value: null });
    this.versions.push({ from, value });
    this.next = next;
  }

  /** Adds a version before the first one. */
  prepend(from: number, value: V | null): void {
    if (this.emptyInTime) this.versions.length = 0;
    this.versions.unshift({ from, value });
  }

  private cutAt(time: number): void {
    while (this.versions.length > 0 && (this.versions[this.versions.length - 1] as Version<V>).from >= time) this.versions.pop();
    if (this.versions.length === 0) this.versions.push({ from: time, value: null });
    this.next = time;
  }
}
