/**
 * What every implementation of the client port does alike, error codes included. It runs against a real broker
 * (integration-tests/kafka/port-suite.test.ts) and against the in-memory cluster (in-memory-port.test.ts); where the two differ, the broker is right.
 */
import { groupTests } from './port-suite/groups.js';
import type { PortSubject } from './port-suite/fixture.js';
import { recordTests } from './port-suite/records.js';
import { streamsGroupTests } from './port-suite/streams-groups.js';
import { topicTests } from './port-suite/topics.js';
import { transactionTests } from './port-suite/transactions.js';

export type { PortSubject } from './port-suite/fixture.js';

export function portSuite(subject: PortSubject): void {
  topicTests(subject);
  recordTests(subject);
  transactionTests(subject, false);
  transactionTests(subject, true);
  groupTests(subject);
  streamsGroupTests(subject);
}
