// Tests are TypeScript ES modules: run jest with `node --experimental-vm-modules` (the npm scripts do).
// `unit` needs no broker; `integration` shares one local stack, started once for the whole run.

import { homedir } from 'node:os';
import { join } from 'node:path';

const shared = {
  cacheDirectory: join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'millrace/jest'),
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  // `.js` first, so that the mapper below leaves the modules of packages as they are.
  moduleFileExtensions: ['js', 'ts', 'mjs', 'cjs', 'json', 'node'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // Examples import the package by its name; here it is the sources (as `paths` says in tsconfig.json).
    '^millrace$': '<rootDir>/src/index.ts',
    '^millrace/testing$': '<rootDir>/src/testing/index.ts',
    '^millrace/query-server$': '<rootDir>/src/query-server/index.ts',
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, sourceMaps: 'inline' }],
  },
};

export default {
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      setupFilesAfterEnv: ['<rootDir>/scripts/test/unit-timeout.mjs'],
    },
    {
      ...shared,
      displayName: 'integration',
      testMatch: ['<rootDir>/integration-tests/**/*.test.ts'],
      globalSetup: '<rootDir>/scripts/test/start-stack.mjs',
      globalTeardown: '<rootDir>/scripts/test/stop-stack.mjs',
      setupFilesAfterEnv: ['<rootDir>/scripts/test/integration-timeout.mjs'],
    },
  ],
};
