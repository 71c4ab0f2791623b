/** The forms of cases that can be run. */
import type { CaseForm } from './case.js';
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
];
