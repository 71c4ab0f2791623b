/** Reads bytes of LevelDB's one after the other. */
export class NumberReader {
  constructor(
    private readonly bytes: Buffer,
    private at: number,
    private readonly end: number,
  ) {}

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  skip(count: number): void {
    this.at += count;
  }

  /**
   * Seven bits a byte, the lowest first.
   * @throws RangeError past the end
   */
  number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      if (this.at >= this.end || factor > Number.MAX_SAFE_INTEGER) throw new RangeError('a number is cut off');
      const byte = this.bytes.readUInt8(this.at++);
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }
}
