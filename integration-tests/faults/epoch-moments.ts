import type { ApiKeys } from './api-keys.js';
import type { Verdict } from './kafka-proxy.js';

/** At which frame a process dies, and whether the frame still gets through. */
export type KillMoment = readonly ['request' | 'response', keyof typeof ApiKeys, Verdict];

/** Each step of an epoch's commit. */
export const epochMoments: Readonly<Record<string, KillMoment>> = {
  'before the epoch’s first output': ['request', 'produce', 'cut'],
  'between produce and the offsets': ['response', 'produce', 'cut'],
  'when the offsets are sent, not the end': ['request', 'txnOffsetCommit', 'pass'],
  'between the offsets and EndTxn': ['request', 'endTxn', 'cut'],
  'between EndTxn and the local write': ['request', 'endTxn', 'pass'],
  'when EndTxn’s answer arrives': ['response', 'endTxn', 'pass'],
};
