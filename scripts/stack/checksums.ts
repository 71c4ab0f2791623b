import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

const pinnedFile = join(import.meta.dirname, 'checksums.sha256');

/** Compares each file with its pinned SHA-256 (checksums.sha256) and throws naming those that differ or are not pinned. */
export async function verifyChecksums(directory: string, files: readonly string[]): Promise<void> {
  const pinned = parseChecksums(await readFile(pinnedFile, 'utf8'));
  const faults: string[] = [];
  for (const file of files) {
    const expected = pinned.get(file);
    const actual = await sha256(join(directory, file));
    if (expected === undefined) faults.push(`${file}: not among the pinned artifacts (sha256 ${actual})`);
    else if (expected !== actual) faults.push(`${file}: expected sha256 ${expected}, got ${actual}`);
  }
  if (faults.length > 0) throw new Error(`Downloaded artifacts differ from what is pinned:\n  ${faults.join('\n  ')}`);
}

function parseChecksums(text: string): Map<string, string> {
  const pinned = new Map<string, string>();
  for (const line of text.split('\n')) {
    const match = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line);
    if (match?.[1] && match[2]) pinned.set(match[2], match[1]);
  }
  return pinned;
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
