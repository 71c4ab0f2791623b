/** `npm run docs`: writes the reference that follows from the docstrings to docs/Reference/api. It is not kept in the repository: it would differ with every commit. */
import { spawnSync } from 'node:child_process';

process.exitCode = spawnSync('node_modules/.bin/typedoc', [], { stdio: 'inherit' }).status ?? 1;
