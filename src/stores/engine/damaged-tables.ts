/**
 * Whether a table file of LevelDB is as it was written. classic-level has LevelDB compare no checksums, and what is wrong in the structure of a block it takes for a fault of its own: an assertion ends
 * the process, at a read or when tables are merged.
 *
 * A table is a row of blocks, each with a type and a checksum behind it, and a footer that says where the two indices are, which name the others: rows, and what tells whether a key is among them.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32c } from '../../bytes/crc32c.js';
import { unmasked } from './masked-checksum.js';
import { NumberReader } from './number-reader.js';

const footerSize = 48;
const magic = Buffer.from('57fb808b247547db', 'hex');
/** Type and checksum behind each block. */
const trailerSize = 5;
const uncompressed = 0;

interface Block {
  readonly start: number;
  readonly end: number;
}

/**
 * The name of a table of that database in which a checksum does not match; null when there is none. Reads all of them.
 *
 * @param mostBytes of a database with larger tables, together, none is read
 */
export async function damagedTable(directory: string, mostBytes = Infinity): Promise<string | null> {
  const tables = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith('.ldb'));
  let bytes = 0;
  for (const name of tables) bytes += (await stat(join(directory, name))).size;
  if (bytes > mostBytes) return null;
  for (const name of tables) if (isDamaged(await readFile(join(directory, name)))) return name;
  return null;
}

/** False for a file without the end of a table: a crash leaves such ones, which LevelDB does not use, and one that it does it refuses itself. */
export function isDamaged(table: Buffer): boolean {
  const footer = table.length - footerSize;
  if (footer < 0 || !table.subarray(-magic.length).equals(magic)) return false;
  try {
    const handles = new NumberReader(table, footer, table.length);
    return [blockAt(handles), blockAt(handles)].some(
      (index) => !isWhole(table, index) || blocksOf(table, index).some((block) => !isWhole(table, block)),
    );
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}

function isWhole(table: Buffer, { start, end }: Block): boolean {
  if (end + trailerSize > table.length - footerSize) return false;
  return crc32c(table, start, end + 1) === unmasked(table.readUInt32LE(end + 1));
}

/** What the entries of an index point to; nothing when it is compressed, as no version of Millrace writes it. An entry: how much of the key is that of the one before, how long the rest of it and the value are, both. */
function blocksOf(table: Buffer, { start, end }: Block): Block[] {
  if (table[end] !== uncompressed) return [];
  const restarts = table.readUInt32LE(end - 4);
  const entries = new NumberReader(table, start, end - 4 * (restarts + 1));
  const blocks: Block[] = [];
  while (!entries.isAtEnd) {
    entries.number();
    const keySize = entries.number();
    entries.number();
    entries.skip(keySize);
    blocks.push(blockAt(entries));
  }
  return blocks;
}

function blockAt(numbers: NumberReader): Block {
  const start = numbers.number();
  return { start, end: start + numbers.number() };
}
