/** `npm run build` */
import { build } from './build.js';

if (!build()) process.exitCode = 1;
