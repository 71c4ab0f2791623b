/** The forms of cases that can be run. */
import type { CaseForm } from './case.js';
import { intervalJoinCase } from './flink/interval-join.js';
import { keyGroupRow } from './flink/key-groups.js';
import { operatorStateCase } from './flink/operator-state.js';
import { seedExample } from './flink/seed-examples.js';
import { timersCase } from './flink/timers.js';
import { ttlCase } from './flink/ttl.js';
import { watermarkValveCase } from './flink/watermark-valve.js';
import { watermarkCase } from './flink/watermarks.js';
import { windowOperatorCase } from './flink/window-operator.js';
import { windowsRow } from './flink/windows.js';
import { murmur2Row } from './kafka-streams/murmur2.js';
import { namingRow } from './kafka-streams/naming.js';
import { idlingRow, recordSelectionCase } from './kafka-streams/record-selection.js';
import { stepsCase } from './kafka-streams/steps.js';
import { versionedStoreEntry } from './kafka-streams/versioned-store.js';
import { windowsForRow } from './kafka-streams/windows-for.js';

export const forms: readonly CaseForm[] = [
  stepsCase,
  windowsForRow,
  murmur2Row,
  namingRow,
  recordSelectionCase,
  idlingRow,
  versionedStoreEntry,
  intervalJoinCase,
  keyGroupRow,
  operatorStateCase,
  seedExample,
  timersCase,
  ttlCase,
  watermarkCase,
  watermarkValveCase,
  windowOperatorCase,
  windowsRow,
];
