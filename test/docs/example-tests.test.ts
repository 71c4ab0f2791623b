import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const runTests = ['--import', 'tsx', '--test', '--test-reporter', 'tap'];

describe('examples/06-testing.ts', () => {
  it('passes under the test runner of Node', async () => {
    const { NODE_OPTIONS: _, ...env } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, [...runTests, 'examples/06-testing.ts'], { env });
    expect(stdout).toMatch(/^# pass 2$/m);
    expect(stdout).toMatch(/^# fail 0$/m);
  });
});
