const maskDelta = 0xa282_ead8;

/** LevelDB stores checksums masked, since one of bytes with checksums in them tells little. */
export function unmasked(stored: number): number {
  const rotated = (stored - maskDelta) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}
