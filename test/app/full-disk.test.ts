import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';

/** What a run of `full-disk-run.ts` saw; it fails by itself when anything wrong was committed, or not everything was in the end. */
function run(scenario: string): unknown {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', 'tsx', 'test/app/harness/full-disk-run.ts', scenario], {
    env: { ...process.env, TSX_DISABLE_CACHE: '1' },
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (status !== 0) throw new Error(`the run failed (${status}):\n${stderr}`);
  return JSON.parse(stdout);
}

describe('a full disk', () => {
  it('costs nothing while what waits for it fits into memory, and when there is room again it is written; a crash then loses nothing', () => {
    expect(run('passes')).toEqual({ stateWhileFull: 'running', failedAfterwards: 0, logged: true });
  });

  it('stops the app when too much waits for it, with an error that says what to do', () => {
    const cure = expect.stringContaining('Check free space');
    expect(run('stops')).toMatchObject({ errors: [{ code: 'MILL_STORE_IO', details: { task: '0_0' }, cure }] });
  });

  it('is waited for with a restart strategy: the app goes on by itself once there is room', () => {
    expect(run('restarts')).toMatchObject({ state: 'running', lastFailure: { code: 'MILL_STORE_IO', taskId: '0_0' } });
  });
});
