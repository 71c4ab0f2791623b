import { open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from '../../src/testing/in-memory-kafka/random.js';

/** Damages one file of one task's database below a state directory; says what it did, or null when there is none. */
export async function damageStore(folder: string, random: Random): Promise<string | null> {
  const files = (await readdir(folder, { recursive: true }).catch(() => []))
    .filter((path) => /tasks\/[^/]+\/db\/(CURRENT|MANIFEST-\d+|\d+\.(ldb|log))$/.test(path))
    .toSorted();
  const sizes = await Promise.all(files.map(async (path) => ({ path, size: (await stat(join(folder, path))).size })));
  const filled = sizes.filter(({ size }) => size > 0);
  const [first, ...others] = filled;
  if (first === undefined) return null;
  const { path, size } = random.pick([first, ...others]);
  const file = join(folder, path);
  const at = random.int(0, size - 1);
  const how = random.pick(['flipped', 'flipped', 'cut', 'zeroed', 'deleted']);
  if (how === 'deleted') await rm(file);
  else if (how === 'cut') await truncate(file, at);
  else {
    const bytes = Buffer.alloc(how === 'flipped' ? 1 : Math.min(512, size - at));
    const handle = await open(file, 'r+');
    try {
      if (how === 'flipped') {
        await handle.read(bytes, 0, 1, at);
        bytes[0] = (bytes[0] ?? 0) ^ (1 << random.int(0, 7));
      }
      await handle.write(bytes, 0, bytes.length, at);
    } finally {
      await handle.close();
    }
  }
  return `${path.slice(path.indexOf('tasks/'))} ${how}${how === 'deleted' ? '' : ` at ${at} of ${size}`}`;
}
