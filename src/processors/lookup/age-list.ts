/** Keys in the order of their age. Whoever adds a key again deletes it before; ages come in order, near enough. */
export class AgeList<K> {
  /** A Map keeps the order in which its keys came. */
  private readonly entries = new Map<unknown, { readonly key: K; readonly at: number }>();

  get size(): number {
    return this.entries.size;
  }

  /** ms; Infinity when the list is empty. */
  get oldestAt(): number {
    for (const { at } of this.entries.values()) return at;
    return Infinity;
  }

  /** @param id tells keys apart in a Map */
  add(id: unknown, key: K, at: number): void {
    this.entries.set(id, { key, at });
  }

  delete(id: unknown): void {
    this.entries.delete(id);
  }

  takeOldest(): { readonly key: K; readonly at: number } | null {
    for (const [id, entry] of this.entries) {
      this.entries.delete(id);
      return entry;
    }
    return null;
  }
}
