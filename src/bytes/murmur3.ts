/**
 * Murmur3, 128 bits, x64 variant, as Kafka Streams hashes the left values of foreign-key joins (seed 104729, its two halves as big-endian 64-bit integers).
 *
 * 64-bit words are pairs of 32-bit halves: BigInt would allocate for each step.
 */
const defaultSeed = 104729;

/** The 16 bytes of the hash. */
export function murmur3Hash128(bytes: Uint8Array, start = 0, end = bytes.length, seed = defaultSeed): Buffer {
  return new Murmur3(seed).hash(bytes, start, end);
}

class Murmur3 {
  private h1: Word;
  private h2: Word;

  constructor(seed: number) {
    this.h1 = new Word(seed < 0 ? -1 : 0, seed | 0);
    this.h2 = new Word(seed < 0 ? -1 : 0, seed | 0);
  }

  hash(bytes: Uint8Array, start: number, end: number): Buffer {
    const { h1, h2 } = this;
    const length = end - start;
    const k = new Word(0, 0);
    const blocksEnd = start + (length & ~15);
    for (let at = start; at < blocksEnd; at += 16) {
      k.read(bytes, at, at + 8);
      mixFirst(k);
      h1.xor(k).rotate(27).add(h2).multiply(0, 5).addLow(0x52dce729);
      k.read(bytes, at + 8, at + 16);
      mixSecond(k);
      h2.xor(k).rotate(31).add(h1).multiply(0, 5).addLow(0x38495ab5);
    }
    if (end > blocksEnd + 8) {
      k.read(bytes, blocksEnd + 8, end);
      mixSecond(k);
      h2.xor(k);
    }
    if (end > blocksEnd) {
      k.read(bytes, blocksEnd, Math.min(end, blocksEnd + 8));
      mixFirst(k);
      h1.xor(k);
    }
    h1.low ^= length;
    h2.low ^= length;
    h1.add(h2);
    h2.add(h1);
    finish(h1);
    finish(h2);
    h1.add(h2);
    h2.add(h1);
    const out = Buffer.allocUnsafe(16);
    out.writeInt32BE(h1.high, 0);
    out.writeInt32BE(h1.low, 4);
    out.writeInt32BE(h2.high, 8);
    out.writeInt32BE(h2.low, 12);
    return out;
  }
}

function mixFirst(k: Word): void {
  k.multiply(0x87c37b91, 0x114253d5).rotate(31).multiply(0x4cf5ad43, 0x2745937f);
}

function mixSecond(k: Word): void {
  k.multiply(0x4cf5ad43, 0x2745937f).rotate(33).multiply(0x87c37b91, 0x114253d5);
}

function finish(h: Word): void {
  h.foldHigh().multiply(0xff51afd7, 0xed558ccd).foldHigh().multiply(0xc4ceb9fe, 0x1a85ec53).foldHigh();
}

/** A 64-bit integer; every operation changes it in place. */
class Word {
  constructor(
    public high: number,
    public low: number,
  ) {}

  /** Up to eight bytes, the lowest first. */
  read(bytes: Uint8Array, start: number, end: number): void {
    this.high = 0;
    this.low = 0;
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number;
      const place = at - start;
      if (place < 4) this.low |= byte << (8 * place);
      else this.high |= byte << (8 * (place - 4));
    }
  }

  xor(other: Word): this {
    this.high ^= other.high;
    this.low ^= other.low;
    return this;
  }

  add(other: Word): this {
    const low = (this.low >>> 0) + (other.low >>> 0);
    this.high = (this.high + other.high + (low > 0xffff_ffff ? 1 : 0)) | 0;
    this.low = low | 0;
    return this;
  }

  addLow(value: number): this {
    const low = (this.low >>> 0) + value;
    this.high = (this.high + (low > 0xffff_ffff ? 1 : 0)) | 0;
    this.low = low | 0;
    return this;
  }

  rotate(bits: number): this {
    const { high, low } = this;
    if (bits < 32) {
      this.high = (high << bits) | (low >>> (32 - bits));
      this.low = (low << bits) | (high >>> (32 - bits));
    } else {
      // The halves change places first; bits - 32 is above 0 for all that is asked here.
      this.high = (low << (bits - 32)) | (high >>> (64 - bits));
      this.low = (high << (bits - 32)) | (low >>> (64 - bits));
    }
    return this;
  }

  /** `h ^= h >>> 33` */
  foldHigh(): this {
    this.low ^= this.high >>> 1;
    return this;
  }

  multiply(high: number, low: number): this {
    const cross = Math.imul(this.high, low) + Math.imul(this.low, high);
    const [aHigh, aLow] = [this.low >>> 16, this.low & 0xffff];
    const [bHigh, bLow] = [low >>> 16, low & 0xffff];
    // The high half of low × low, in parts that stay exact.
    const bottom = aLow * bLow;
    const middle = aHigh * bLow + (bottom >>> 16);
    const middleLow = aLow * bHigh + (middle & 0xffff);
    const carried = aHigh * bHigh + Math.floor(middle / 0x1_0000) + Math.floor(middleLow / 0x1_0000);
    this.low = Math.imul(this.low, low);
    this.high = (carried + cross) | 0;
    return this;
  }
}
