/** Distinct numbers in ascending order; mostly added at the end and removed from the front. */
export class SortedNumbers {
  readonly values: number[] = [];

  /** Index of the first number at or above `value`. */
  firstAtOrAbove(value: number): number {
    let low = 0;
    let high = this.values.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.values[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  add(value: number): void {
    const at = this.firstAtOrAbove(value);
    if (this.values[at] !== value) this.values.splice(at, 0, value);
  }

  delete(value: number): void {
    const at = this.firstAtOrAbove(value);
    if (this.values[at] === value) this.values.splice(at, 1);
  }

  /** Copies of those with `from <= number <= to`. */
  between(from: number, to: number): number[] {
    const start = this.firstAtOrAbove(from);
    let end = start;
    while (end < this.values.length && (this.values[end] as number) <= to) end++;
    return this.values.slice(start, end);
  }

  clear(): void {
    this.values.length = 0;
  }
}
