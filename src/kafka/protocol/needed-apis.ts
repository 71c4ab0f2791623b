/** What every run needs of every broker: checked at connect, so that an old broker is named then and not in the middle of a job. */
import { addOffsetsToTxn } from './add-offsets-to-txn.js';
import { addPartitionsToTxn } from './add-partitions-to-txn.js';
import { createTopics } from './create-topics.js';
import { deleteRecords } from './delete-records.js';
import { describeConfigs } from './describe-configs.js';
import { endTxn } from './end-txn.js';
import { fetch } from './fetch.js';
import { findCoordinator } from './find-coordinator.js';
import { heartbeat } from './heartbeat.js';
import { initProducerId } from './init-producer-id.js';
import { joinGroup } from './join-group.js';
import { leaveGroup } from './leave-group.js';
import { listOffsets } from './list-offsets.js';
import { metadata } from './metadata.js';
import { offsetCommit } from './offset-commit.js';
import { offsetFetch } from './offset-fetch.js';
import { produce } from './produce.js';
import { syncGroup } from './sync-group.js';
import { txnOffsetCommit } from './txn-offset-commit.js';

export const neededApis = [
  produce,
  fetch,
  listOffsets,
  metadata,
  offsetCommit,
  offsetFetch,
  findCoordinator,
  joinGroup,
  heartbeat,
  leaveGroup,
  syncGroup,
  createTopics,
  deleteRecords,
  initProducerId,
  addPartitionsToTxn,
  addOffsetsToTxn,
  endTxn,
  txnOffsetCommit,
  describeConfigs,
] as const;
