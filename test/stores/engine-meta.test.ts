import { afterEach, expect, it } from '@jest/globals';
import { ClassicLevel } from 'classic-level';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEngine } from '../../src/stores/open-engine.js';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

it('a database of format 1, whose rows have no checksums, is emptied without being called damaged', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-format-'));
  folders.push(directory);
  const database = new ClassicLevel<string, string>(directory);
  await database.batch([
    { type: 'put', key: '\0\0format', value: '1' },
    { type: 'put', key: '\0\0epoch', value: '7' },
    { type: 'put', key: '\0\x01some key', value: 'some value' },
  ]);
  await database.close();

  const { engine, meta, corrupted } = await openEngine({ directory, taskId: '0_0' });
  try {
    expect(corrupted).toBeNull();
    expect(meta).toEqual({ epoch: -1, clean: false, stores: new Map() });
    expect(engine.get(Buffer.from('\0\x01some key'))).toBeUndefined();
  } finally {
    await engine.close();
  }
});
