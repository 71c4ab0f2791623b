/** More than there are releases in a group during an upgrade. */
const kept = 8;

/** Remembers what a function made of the last few texts. The results are shared: nobody may change them. */
export class RecentResults<T> {
  private readonly results = new Map<string, T>();

  constructor(private readonly make: (text: string) => T) {}

  /** Throws what the function throws, of which nothing is remembered. */
  of(text: string): T {
    const known = this.results.get(text);
    if (known !== undefined) return known;
    const made = this.make(text);
    for (const oldest of this.results.keys()) {
      if (this.results.size < kept) break;
      this.results.delete(oldest);
    }
    this.results.set(text, made);
    return made;
  }
}
