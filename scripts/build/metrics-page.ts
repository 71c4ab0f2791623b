/** Writes the tables of docs/Reference/metrics.md anew from the catalogue of metrics. */
import { spawnSync } from 'node:child_process';
import { metricsPage, writeMetricsPage } from '../check/docs-metrics.js';

await writeMetricsPage();
process.exitCode = spawnSync('npx', ['prettier', '--write', metricsPage], { stdio: 'inherit' }).status ?? 1;
