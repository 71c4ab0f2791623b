/** `npm run format`: puts every file into the shape that `npm run check` asks for. */
import { spawnSync } from 'node:child_process';

process.exitCode = spawnSync('node_modules/.bin/prettier', ['--write', '--log-level', 'warn', '.'], { stdio: 'inherit' }).status ?? 1;
