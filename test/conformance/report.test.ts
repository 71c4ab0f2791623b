import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runConformance } from '../../conformance/report.js';

let directory: string;
const lines: string[] = [];
const print = (line: string): void => void lines.push(line);

const steps = (out: unknown): object => ({
  cases: [{ name: 'count', topology: { op: 'stream-aggregate', aggregate: 'count' }, steps: [{ in: [['L', 'A', 'x', 1]], out }] }],
});

beforeEach(async () => {
  lines.length = 0;
  directory = await mkdtemp(path.join(tmpdir(), 'conformance-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('conformance runner', () => {
  it('counts cases that give exactly what is listed', async () => {
    await mkdir(path.join(directory, 'below'));
    await writeFile(path.join(directory, 'below', 'good.json'), JSON.stringify(steps([['A', '1', 1]])));
    expect(await runConformance({ directory, later: new Set(), print })).toMatchObject({ passed: 1, failed: 0 });
    expect(lines).toEqual([`${path.join('below', 'good.json')}: 1 passed, 0 failed`]);
  });

  it('shows what was expected of a case that gives something else', async () => {
    await writeFile(path.join(directory, 'bad.json'), JSON.stringify(steps([['A', '2', 1]])));
    expect(await runConformance({ directory, later: new Set(), print })).toMatchObject({ passed: 0, failed: 1 });
    expect(lines.join('\n')).toMatch(/FAIL count\s+step 0: expected \[\["A","2",1\]\], got \[\["A","1",1\]\]/);
  });

  it('counts what it cannot run as failed, by name, unless it is for later', async () => {
    await writeFile(
      path.join(directory, 'new.json'),
      JSON.stringify({ cases: [{ name: 'of an operator to come', something: 1 }], rows: [{ odd: 2 }] }),
    );
    expect(await runConformance({ directory, later: new Set(), print })).toMatchObject({ passed: 0, failed: 2 });
    expect(lines.join('\n')).toMatch(/FAIL of an operator to come\s+not built: .*\/new\n\s+FAIL rows\[0\]/);
    const what = `${path.basename(directory)}/new`;
    expect(await runConformance({ directory, later: new Set([what]), print })).toEqual({ passed: 0, failed: 0, missing: new Set([what]) });
  });

  it('an unreadable file is a failure and does not keep the others from running', async () => {
    await writeFile(path.join(directory, 'a.json'), '{');
    await writeFile(path.join(directory, 'b.json'), JSON.stringify(steps([['A', '1', 1]])));
    expect(await runConformance({ directory, later: new Set(), print })).toMatchObject({ passed: 1, failed: 1 });
  });

  it('takes the wanted result where the reference is known to lose some', async () => {
    const topology = { op: 'window-aggregate', window: { type: 'time', sizeMs: 10, graceMs: 0 }, aggregate: 'count', emit: 'close' };
    const input = [
      ['L', 'A', '1', 0],
      ['L', 'A', '1', 11],
      ['L', 'A', '1', 1000],
    ];
    const first = ['[A@0/10]', '1', 0];
    const second = ['[A@10/20]', '1', 11];
    const cases = [
      { name: 'wanted', topology, steps: [{ in: input, out: [first], wanted: [first, second] }] },
      { name: 'complete', topology, steps: [{ in: input, out: [first] }] },
      { name: 'wrong', topology, steps: [{ in: input, out: [second, first] }] },
    ];
    await writeFile(path.join(directory, 'lost.json'), JSON.stringify({ cases }));
    expect(await runConformance({ directory, later: new Set(), print })).toMatchObject({ passed: 2, failed: 1 });
    expect(lines.join('\n')).toContain('FAIL wrong');
  });
});
