import { commitLatencyRow } from './commit-latency.js';
import { curveRows } from './curves.js';
import { fetchRow, produceRow } from './raw-records.js';
import { rebalanceStallRows } from './rebalance-stall.js';
import { restartAfterKillRow } from './restart-after-kill.js';
import { restoreRow } from './restore.js';
import { startupRow } from './startup.js';
import type { Row } from './row.js';
import { throughputRows } from './throughput.js';

/** In the order in which they run. */
export const allRows: readonly Row[] = [
  produceRow,
  fetchRow,
  ...throughputRows,
  commitLatencyRow,
  startupRow,
  restoreRow,
  restartAfterKillRow,
  ...curveRows,
  ...rebalanceStallRows,
];
