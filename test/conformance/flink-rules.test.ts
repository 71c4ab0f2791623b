import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { flinkRules, flinkRulesNotMet } from './flink-rules.js';

describe('each rule of Flink’s semantics', () => {
  it.each(Object.entries(flinkRules).map(([rule, tests]) => ({ rule, tests })))('$rule', ({ tests }) => {
    expect(tests.length).toBeGreaterThan(0);
    for (const [file, name] of tests) {
      expect(existsSync(file) ? file : `${file} is missing`).toBe(file);
      expect(readFileSync(file, 'utf8')).toContain(name);
    }
  });

  it('is met, or stands among those that are not with the reason', () => {
    for (const rule of Object.keys(flinkRulesNotMet)) expect(flinkRules).not.toHaveProperty([rule]);
  });
});
