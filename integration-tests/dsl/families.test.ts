import { afterEach, describe, expect, it } from '@jest/globals';
import { DslRun } from './dsl-run.js';
import { joinFamilies } from './join-families.js';
import { moreFamilies } from './more-families.js';
import { windowFamilies } from './window-families.js';

const runs: DslRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

const alone = [...joinFamilies, ...windowFamilies].map((family) => ({ name: family.name, families: [family] }));

describe('two instances on a broker write what the test driver writes', () => {
  it.each([...alone, { name: 'all others', families: moreFamilies }])('$name', async ({ name, families }) => {
    const run = await DslRun.begin(name.replaceAll(' ', '-'), families);
    runs.push(run);
    const failures: unknown[] = [];
    const first = await run.start('first');
    first.on('error', (error) => failures.push(error));
    await run.write(0, 'first half');
    // Tasks move to the second instance, with their state, while the first works.
    const [second] = await Promise.all([run.start('second'), run.write(0, 'second half')]);
    second.on('error', (error) => failures.push(error));
    await run.settled(0);
    for (let phase = 1; phase < run.phases; phase++) {
      await run.write(phase);
      await run.settled(phase);
    }
    const owned = [first, second].map((app) => app.metrics().group?.ownedTasks.length ?? 0);
    expect(Math.min(...owned)).toBeGreaterThan(0);
    expect(failures).toEqual([]);
  });
});
