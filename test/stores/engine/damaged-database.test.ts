import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cp, mkdir, mkdtemp, open as openFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../src/errors.js';
import { leastEngineBytes } from '../../../src/stores/engine-memory.js';
import { isDamaged } from '../../../src/stores/engine/damaged-tables.js';
import type { Engine } from '../../../src/stores/engine/engine.js';
import { openLevelEngine } from '../../../src/stores/engine/level-engine.js';
import { readLog } from '../../../src/stores/engine/log-format.js';
import { writeLog } from './level-log.js';

const batches = 150;
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-damage-'));
  folders.push(folder);
  return folder;
}

const keyOf = (batch: number): Buffer => Buffer.from(`key-${batch % 40}`);
const valueOf = (batch: number): string => `${batch} `.padEnd(900, 'x');
const everything = { from: Buffer.alloc(0), to: Buffer.from([0xff]) };

async function rowsOf(engine: Engine): Promise<[string, string][]> {
  const scan = engine.scan(everything);
  const rows: [string, string][] = [];
  try {
    for (let page = await scan.next(50); page.length > 0; page = await scan.next(50))
      rows.push(...page.map(([key, value]): [string, string] => [key.toString(), value.toString()]));
  } finally {
    await scan.close();
  }
  return rows;
}

/** What the first so many batches leave. */
function rowsAfter(count: number): [string, string][] {
  const rows = new Map<string, string>();
  for (let batch = 0; batch < count; batch++) rows.set(keyOf(batch).toString(), valueOf(batch));
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A database of several log blocks, as a killed process leaves it; with little memory, some of it is in tables. */
async function killed(engineBytes?: number): Promise<{ readonly folder: string; readonly log: string; readonly bytes: Buffer }> {
  const base = await newFolder();
  const { engine } = await openLevelEngine({ directory: join(base, 'live'), taskId: '0_0', engineBytes });
  for (let batch = 0; batch < batches; batch++) {
    const written = engine.batch();
    written.put(keyOf(batch), Buffer.from(valueOf(batch)));
    await written.write();
  }
  // A log that is on its way into a table changes files while they are copied.
  while ((await readdir(join(base, 'live'))).filter((name) => name.endsWith('.log')).length > 1) await sleep(5);
  const folder = join(base, 'killed');
  await cp(join(base, 'live'), folder, { recursive: true });
  await engine.close();
  const name = (await readdir(folder)).find((found) => found.endsWith('.log')) ?? '';
  return { folder, log: name, bytes: await readFile(join(folder, name)) };
}

async function opened(directory: string): Promise<{ readonly rows: [string, string][]; readonly wiped: boolean }> {
  const { engine, corrupted } = await openLevelEngine({ directory, taskId: '0_0' });
  try {
    return { rows: await rowsOf(engine), wiped: corrupted !== null };
  } finally {
    await engine.close();
  }
}

describe('a database whose log is damaged', () => {
  it('is made anew when batches are missing in the middle: else it would say that it is current', async () => {
    const { folder, log, bytes } = await killed();
    bytes[40_000] = (bytes[40_000] ?? 0) ^ 1;
    await writeFile(join(folder, log), bytes);
    expect(await opened(folder)).toEqual({ rows: [], wiped: true });
    expect(await opened(folder)).toEqual({ rows: [], wiped: false });
  });

  it('is at an earlier batch when its end is cut off', async () => {
    const { folder, log, bytes } = await killed();
    await truncate(join(folder, log), bytes.length - 1000);
    expect(await opened(folder)).toEqual({ rows: rowsAfter(batches - 2), wiped: false });
  });

  it('is as it was when nothing happened to it', async () => {
    const { folder } = await killed();
    expect(await opened(folder)).toEqual({ rows: rowsAfter(batches), wiped: false });
  });

  it('is, wherever a bit was flipped, bytes were zeroed or its end cut off, at some batch or empty', async () => {
    const { folder, log, bytes } = await killed();
    const states = new Set(Array.from({ length: batches + 1 }, (_, count) => JSON.stringify(rowsAfter(count))));
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: bytes.length - 1 }),
        fc.constantFrom('flipped', 'zeroed', 'cut'),
        fc.integer({ min: 0, max: 7 }),
        async (at, how, bit) => {
          const copy = join(await newFolder(), 'copy');
          await cp(folder, copy, { recursive: true });
          const damaged = Buffer.from(bytes.subarray(0, how === 'cut' ? at : bytes.length));
          if (how === 'flipped') damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
          if (how === 'zeroed') damaged.fill(0, at, Math.min(at + 512, damaged.length));
          await writeFile(join(copy, log), damaged);
          const { rows, wiped } = await opened(copy);
          await rm(copy, { recursive: true });
          if (wiped) expect(rows).toEqual([]);
          else expect(states.has(JSON.stringify(rows))).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('is taken as it is when its last blocks hold nothing, as after a power loss', () => {
    expect(readLog(Buffer.alloc(100_000))).toEqual({ records: [], isWhole: false, hasGap: false });
    expect(readLog(Buffer.alloc(0))).toEqual({ records: [], isWhole: true, hasGap: false });
  });
});

describe('a database that has lost a file, or a part of one', () => {
  const states = new Set(Array.from({ length: batches + 1 }, (_, count) => JSON.stringify(rowsAfter(count))));

  /** With tables, and two logs, as when the process ended while a full one was on its way into a table. */
  async function withSeveralLogs(): Promise<string> {
    const { folder, log, bytes } = await killed(leastEngineBytes);
    const { records } = readLog(bytes);
    const half = Math.floor(records.length / 2);
    expect(half).toBeGreaterThan(3);
    await writeFile(join(folder, log), writeLog(records.slice(0, half)));
    await writeFile(join(folder, '001000.log'), writeLog(records.slice(half)));
    return folder;
  }

  /** The rows that are there, none when that it is damaged is told. */
  async function rowsFound(folder: string): Promise<{ readonly rows: readonly unknown[]; readonly isTold: boolean }> {
    try {
      const { rows, wiped } = await opened(folder);
      return { rows, isTold: wiped };
    } catch (error) {
      expect(error).toMatchObject({ code: 'MILL_STORE_CORRUPTED' });
      return { rows: [], isTold: true };
    }
  }

  async function copyOf(folder: string): Promise<string> {
    const copy = join(await newFolder(), 'copy');
    await cp(folder, copy, { recursive: true });
    return copy;
  }

  it('is whole with several logs', async () => {
    expect(await rowsFound(await withSeveralLogs())).toEqual({ rows: rowsAfter(batches), isTold: false });
  });

  it('is made anew without its CURRENT: LevelDB read the last batches into an empty database, which said that it was current', async () => {
    const { folder } = await killed(leastEngineBytes);
    await rm(join(folder, 'CURRENT'));
    expect(await opened(folder)).toEqual({ rows: [], wiped: true });
  });

  it.each<[string, (log: string, records: readonly Buffer[]) => Promise<void>]>([
    ['is gone', (log) => rm(log)],
    ['is empty', (log) => truncate(log, 0)],
    ['has lost its end', async (log) => truncate(log, (await readFile(log)).length - 100)],
    ['has lost its last batch', (log, records) => writeFile(log, writeLog(records.slice(0, -1)))],
  ])('is made anew when the first of two logs %s', async (_what, harm) => {
    const folder = await withSeveralLogs();
    const first = (await readdir(folder)).filter((name) => name.endsWith('.log')).sort()[0] ?? '';
    await harm(join(folder, first), readLog(await readFile(join(folder, first))).records);
    expect(await opened(folder)).toEqual({ rows: [], wiped: true });
  });

  it('is at an earlier batch when the last of two logs is gone', async () => {
    const folder = await withSeveralLogs();
    await rm(join(folder, '001000.log'));
    const { rows, isTold } = await rowsFound(folder);
    expect(isTold).toBe(false);
    expect(states.has(JSON.stringify(rows))).toBe(true);
  });

  it('is made anew when its manifest has lost the last change: the log that it would begin with is in a table that it does not know', async () => {
    const { folder } = await killed(leastEngineBytes);
    const name = (await readdir(folder)).find((file) => file.startsWith('MANIFEST')) ?? '';
    const { records } = readLog(await readFile(join(folder, name)));
    expect(records.length).toBeGreaterThan(1);
    await writeFile(join(folder, name), writeLog(records.slice(0, -1)));
    expect((await rowsFound(folder)).isTold).toBe(true);
  });

  it('is, whatever happens to whichever file, at some batch, or it is told', async () => {
    const folder = await withSeveralLogs();
    const files = (await readdir(folder)).filter((name) => /^(CURRENT|MANIFEST-\d+|\d+\.(ldb|log))$/.test(name));
    expect(files.length).toBeGreaterThan(4);
    const harm = fc.constantFrom('deleted', 'cut', 'zeroed', 'flipped');
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...files), harm, fc.double({ min: 0, max: 0.9999, noNaN: true }), async (name, how, part) => {
        const copy = await copyOf(folder);
        const file = join(copy, name);
        const bytes = await readFile(file);
        const at = Math.floor(bytes.length * part);
        if (how === 'deleted') await rm(file);
        else if (how === 'cut') await truncate(file, at);
        else {
          if (how === 'zeroed') bytes.fill(0, at, Math.min(at + 512, bytes.length));
          else bytes[at] = (bytes[at] ?? 0) ^ 16;
          await writeFile(file, bytes);
        }
        const { rows, isTold } = await rowsFound(copy);
        await rm(copy, { recursive: true });
        if (isTold) expect(rows).toEqual([]);
        else expect(states.has(JSON.stringify(rows))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a database with a damaged table', () => {
  const first = keyOf(0);
  const reads: readonly [string, (engine: Engine) => unknown][] = [
    ['a look-up', (engine) => engine.get(first)],
    ['a scan', (engine) => rowsOf(engine)],
    ['a look-up in a snapshot', (engine) => engine.snapshot().get(first)],
  ];
  const harms: readonly [string, (table: string) => Promise<void>][] = [
    ['other bytes', (table) => overwrite(table, Buffer.alloc(1500, 0xff))],
    ['its end cut off', async (table) => truncate(table, Math.floor((await readFile(table)).length / 2))],
    ['no bytes', (table) => truncate(table, 0)],
    ['no file', (table) => rm(table)],
  ];

  it.each(reads.flatMap(([how, read]) => harms.map(([harm, damage]) => ({ how, read, harm, damage }))))(
    'is made anew by the one who opens it next, once $how has found $harm',
    async ({ read, damage }) => {
      const { folder } = await killed();
      // LevelDB turns the log into a table when it opens.
      await opened(folder);
      const table = (await readdir(folder)).find((name) => name.endsWith('.ldb')) ?? '';
      await damage(join(folder, table));

      await expect(openAndRead(folder, read)).rejects.toMatchObject({ code: 'MILL_STORE_CORRUPTED' });
      expect((await opened(folder)).rows).toEqual([]);
    },
  );

  it('is found by whoever reads a value in which a bit was flipped', async () => {
    const { folder, table, bytes } = await withTable();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: batches - 40, max: batches - 1 }), fc.nat(899), fc.nat(7), async (batch, offset, bit) => {
        const at = bytes.indexOf(valueOf(batch)) + offset;
        expect(await codesAfterFlip(folder, table, bytes, at, bit)).toEqual(['MILL_STORE_CORRUPTED']);
      }),
      { numRuns: 20 },
    );
  });

  // LevelDB's own keys have nothing that tells: what is flipped there may hide a row, or all but its earlier version.
  it('gives no row that was never written, wherever a bit was flipped', async () => {
    const { folder, table, bytes } = await withTable();
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (at, bit) => {
        const codes = await codesAfterFlip(folder, table, bytes, at, bit);
        expect([[], ['MILL_STORE_CORRUPTED']]).toContainEqual(codes);
      }),
      { numRuns: 20 },
    );
  });

  describe('that LevelDB may end the process for', () => {
    /** As its process leaves it that was killed with the database open. */
    async function killedAgain(folder: string): Promise<string> {
      const copy = join(await newFolder(), 'killed');
      const { engine } = await openLevelEngine({ directory: folder, taskId: '0_0' });
      await cp(folder, copy, { recursive: true });
      await engine.close();
      return copy;
    }

    async function flip(folder: string, at: (bytes: Buffer) => number): Promise<void> {
      const table = join(folder, (await readdir(folder)).find((name) => name.endsWith('.ldb')) ?? '');
      const bytes = await readFile(table);
      bytes[at(bytes)] = (bytes[at(bytes)] ?? 0) ^ 4;
      await writeFile(table, bytes);
    }
    /** LevelDB itself does not mind values. */
    const inValue = (bytes: Buffer): number => bytes.indexOf('xxxx');
    const isWiped = async (directory: string, quickCheckBytes?: number): Promise<boolean> => {
      const { engine, corrupted } = await openLevelEngine({ directory, taskId: '0_0', quickCheckBytes });
      await engine.close();
      return corrupted !== null;
    };

    /** As it is when it was closed. */
    async function closed(): Promise<string> {
      const { folder } = await killed();
      await opened(folder);
      return folder;
    }

    it('is made anew after an end of a process with it open, before LevelDB looks at it', async () => {
      const once = await killedAgain(await closed());
      await flip(once, inValue);
      expect(await isWiped(once)).toBe(true);
    });

    it('is so, when it is large, after two such ends in a row', async () => {
      const once = await killedAgain(await closed());
      const twice = await killedAgain(once);
      for (const folder of [once, twice]) await flip(folder, inValue);
      expect(await isWiped(once, 1000)).toBe(false);
      expect(await isWiped(twice, 1000)).toBe(true);
    });

    it('is kept after such ends when its checksums match, and they are compared no more until there are two again', async () => {
      const twice = await killedAgain(await killedAgain(await closed()));
      const thrice = await killedAgain(twice);
      expect((await opened(twice)).rows).toEqual(rowsAfter(batches));
      await flip(thrice, inValue);
      expect(await isWiped(thrice, 1000)).toBe(false);
    });

    it('is made anew when another process has closed it: a wrong bit on the disk could hide rows', async () => {
      const folder = await closed();
      await writeFile(join(folder, 'MILLRACE_IN_USE'), 'closed by another one');
      const larger = join(await newFolder(), 'larger');
      await cp(folder, larger, { recursive: true });
      for (const one of [folder, larger]) await flip(one, inValue);
      expect(await isWiped(folder)).toBe(true);
      expect(await isWiped(larger, 1000)).toBe(false);
    });

    it('is opened as it is when this process has closed it', async () => {
      const folder = await closed();
      await flip(folder, inValue);
      expect(await isWiped(folder)).toBe(false);
    });

    it('is opened as it is when another one has it open and closes it meanwhile', async () => {
      const folder = await closed();
      const { engine } = await openLevelEngine({ directory: folder, taskId: '0_0' });
      await flip(folder, inValue);
      const next = openLevelEngine({ directory: folder, taskId: '0_0' });
      await engine.close();
      const { engine: taken, corrupted } = await next;
      await taken.close();
      expect(corrupted).toBeNull();
    });

    it('is not opened when its files can’t be read', async () => {
      const once = await killedAgain(await closed());
      await rm(join(once, (await readdir(once)).find((name) => name.endsWith('.ldb')) ?? ''));
      await mkdir(join(once, '000999.ldb'));
      await expect(openLevelEngine({ directory: once, taskId: '0_0' })).rejects.toMatchObject({ code: 'MILL_STORE_IO' });
    });

    it('is refused while another one has it open', async () => {
      const once = await killedAgain((await killed()).folder);
      const { engine } = await openLevelEngine({ directory: once, taskId: '0_0' });
      await writeFile(join(once, 'MILLRACE_DAMAGED'), '');
      await expect(openLevelEngine({ directory: once, taskId: '0_0' })).rejects.toMatchObject({ code: 'MILL_STORE_DIRECTORY_LOCKED' });
      await engine.close();
      expect((await opened(once)).wiped).toBe(true);
    });
  });

  it('has a checksum that tells, wherever a bit was flipped before its end', async () => {
    const { bytes } = await withTable();
    const footer = 48;
    expect(isDamaged(bytes)).toBe(false);
    fc.assert(
      fc.property(fc.nat(bytes.length - footer - 1), fc.nat(7), (at, bit) => {
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
        expect(isDamaged(damaged)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('may have any footer: what its places lead to is damage, or no table', async () => {
    const { bytes } = await withTable();
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 40, maxLength: 40 }), fc.nat(bytes.length), (places, length) => {
        const damaged = Buffer.from(bytes);
        damaged.set(places, bytes.length - 48);
        expect(isDamaged(damaged)).toBe(true);
        // As a crash leaves what it was writing: LevelDB uses no such file.
        expect(isDamaged(bytes.subarray(0, Math.min(length, bytes.length - 1)))).toBe(false);
      }),
    );
  });

  async function withTable(): Promise<{ readonly folder: string; readonly table: string; readonly bytes: Buffer }> {
    const { folder } = await killed();
    await opened(folder);
    const table = (await readdir(folder)).find((name) => name.endsWith('.ldb')) ?? '';
    return { folder, table, bytes: await readFile(join(folder, table)) };
  }

  async function codesAfterFlip(folder: string, table: string, bytes: Buffer, at: number, bit: number): Promise<string[]> {
    const copy = join(await newFolder(), 'copy');
    await cp(folder, copy, { recursive: true });
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
    await writeFile(join(copy, table), damaged);
    try {
      return await codesOfReads(copy);
    } finally {
      await rm(copy, { recursive: true });
    }
  }

  /** What reading all rows, in both ways, fails with; rows that are given were written once. */
  async function codesOfReads(directory: string): Promise<string[]> {
    const { engine, corrupted } = await openLevelEngine({ directory, taskId: '0_0' });
    try {
      if (corrupted !== null) return [corrupted.code];
      const failures = rowsAfter(batches).map(([key]) =>
        codeOf(() => {
          const value = engine.get(Buffer.from(key));
          if (value !== undefined) wasWritten(key, value.toString());
        }),
      );
      const scanned = await rowsOf(engine).catch((error: unknown) => error);
      if (Array.isArray(scanned)) for (const [key, value] of scanned as [string, string][]) wasWritten(key, value);
      else failures.push((scanned as { code: string }).code);
      return [...new Set(failures)].filter((code) => code !== null);
    } finally {
      await engine.close();
    }
  }

  function wasWritten(key: string, value: string): void {
    const batch = Number.parseInt(value, 10);
    expect([key, value]).toEqual([keyOf(batch).toString(), valueOf(batch)]);
  }

  function codeOf(read: () => void): string | null {
    try {
      read();
      return null;
    } catch (error) {
      if (error instanceof MillraceError) return error.code;
      throw error;
    }
  }

  /** Whichever of the two finds it; what is made anew at once is told as the read would tell it. */
  async function openAndRead(directory: string, read: (engine: Engine) => unknown): Promise<void> {
    const { engine, corrupted } = await openLevelEngine({ directory, taskId: '0_0' });
    try {
      await read(engine);
    } finally {
      await engine.close();
    }
    if (corrupted !== null) throw corrupted;
  }

  async function overwrite(file: string, bytes: Buffer): Promise<void> {
    const handle = await openFile(file, 'r+');
    await handle.write(bytes, 0, bytes.length, 0);
    await handle.close();
  }
});
