/** The requests and answers behind `kafka-4.4-messages.json`, as this library states them: `[what we ask, what it reads back]`. */
import type { Api } from '../../../src/kafka/protocol/api.js';
import { addOffsetsToTxn } from '../../../src/kafka/protocol/add-offsets-to-txn.js';
import { addPartitionsToTxn } from '../../../src/kafka/protocol/add-partitions-to-txn.js';
import { apiVersions } from '../../../src/kafka/protocol/api-versions.js';
import { createTopics } from '../../../src/kafka/protocol/create-topics.js';
import { deleteGroups } from '../../../src/kafka/protocol/delete-groups.js';
import { deleteRecords } from '../../../src/kafka/protocol/delete-records.js';
import { deleteTopics } from '../../../src/kafka/protocol/delete-topics.js';
import { describeConfigs } from '../../../src/kafka/protocol/describe-configs.js';
import { describeGroups } from '../../../src/kafka/protocol/describe-groups.js';
import { endTxn } from '../../../src/kafka/protocol/end-txn.js';
import { fetch, FETCH_BY_TOPIC_ID } from '../../../src/kafka/protocol/fetch.js';
import { findCoordinator } from '../../../src/kafka/protocol/find-coordinator.js';
import { heartbeat } from '../../../src/kafka/protocol/heartbeat.js';
import { initProducerId } from '../../../src/kafka/protocol/init-producer-id.js';
import { joinGroup } from '../../../src/kafka/protocol/join-group.js';
import { leaveGroup } from '../../../src/kafka/protocol/leave-group.js';
import { listOffsets } from '../../../src/kafka/protocol/list-offsets.js';
import { listTransactions } from '../../../src/kafka/protocol/list-transactions.js';
import { metadata } from '../../../src/kafka/protocol/metadata.js';
import { offsetCommit } from '../../../src/kafka/protocol/offset-commit.js';
import { offsetFetch } from '../../../src/kafka/protocol/offset-fetch.js';
import { produce } from '../../../src/kafka/protocol/produce.js';
import { streamsGroupDescribe } from '../../../src/kafka/protocol/streams-group-describe.js';
import { streamsGroupHeartbeat } from '../../../src/kafka/protocol/streams-group-heartbeat.js';
import { syncGroup } from '../../../src/kafka/protocol/sync-group.js';
import { txnOffsetCommit } from '../../../src/kafka/protocol/txn-offset-commit.js';

export interface Sample {
  readonly api: Api<never, unknown>;
  readonly request: unknown;
  /** What an answer reads as; a function where it depends on the version. */
  readonly response: (version: number) => unknown;
}

function sample<Request, Response>(
  api: Api<Request, Response>,
  request: Request,
  response: Response | ((version: number) => Response),
): Sample {
  return {
    api,
    request,
    response: (version) => (typeof response === 'function' ? (response as (version: number) => Response)(version) : response),
  };
}

const identity = { transactionalId: 'app-1', producerId: 4_000_000_000_001n, producerEpoch: 7 };
const topicId = 'ASNFZ4mrze8RIjNEVWZ3iA';
const member = { groupId: 'app', memberId: 'm-1', generation: 12, groupInstanceId: null };
const offsets = [
  { topic: 'orders', partition: 0, offset: 5_000_000_000, leaderEpoch: 4, metadata: 'epoch=7' },
  { topic: 'orders', partition: 3, offset: 1, leaderEpoch: -1, metadata: null },
];
const partitionResults = [
  { topic: 'orders', partition: 0, errorCode: 0 },
  { topic: 'orders', partition: 3, errorCode: 25 },
];

export const samples: readonly Sample[] = [
  sample(apiVersions, { softwareName: 'millrace', softwareVersion: '1.0' }, (version) => ({
    errorCode: 0,
    versions: new Map([
      [0, { min: 3, max: 13 }],
      [18, { min: 0, max: 5 }],
    ]),
    finalizedFeatures: new Map(version >= 3 ? [['transaction.version', 2]] : []),
  })),
  sample(metadata, { topics: ['orders'] }, (version) => ({
    clusterId: 'cl',
    controllerId: 2,
    brokers: [
      { nodeId: 1, host: 'h1', port: 9092, rack: null },
      { nodeId: 2, host: 'h2', port: 9093, rack: 'r' },
    ],
    topics: new Map([
      [
        'orders',
        {
          name: 'orders',
          topicId: version >= 10 ? '3d4Pe8m1T0aW2nVb6Yq5xw' : null,
          isInternal: false,
          errorCode: 0,
          partitions: [
            { partition: 0, leader: -1, leaderEpoch: 9, errorCode: 5 },
            { partition: 1, leader: 2, leaderEpoch: 8, errorCode: 0 },
          ],
        },
      ],
      ['gone', { name: 'gone', topicId: null, isInternal: false, errorCode: 3, partitions: [] }],
    ]),
  })),
  sample(
    listOffsets,
    {
      isolation: 'read_committed',
      queries: [
        { topic: 'orders', partition: 0, at: 'earliest' },
        { topic: 'orders', partition: 1, at: 1_700_000_000_000 },
      ],
    },
    [
      { topic: 'orders', partition: 0, errorCode: 0, offset: 9_007_199_254_740_000 },
      { topic: 'orders', partition: 1, errorCode: 6, offset: -1 },
    ],
  ),
  sample(
    fetch,
    {
      isolation: 'read_committed',
      maxWaitMs: 500,
      minBytes: 1,
      maxBytes: 52_428_800,
      partitions: [
        { topic: 'orders', topicId, partition: 2, offset: 5_000_000_000, maxBytes: 1_048_576 },
        { topic: 'orders', topicId, partition: 0, offset: 0, maxBytes: 1_048_576 },
      ],
    },
    (version) => ({
      errorCode: 0,
      throttleMs: 4,
      partitions: [
        {
          topic: version < FETCH_BY_TOPIC_ID ? 'orders' : topicId,
          partition: 2,
          errorCode: 0,
          highWatermark: 5_000_000_100,
          lastStableOffset: 5_000_000_050,
          logStartOffset: 7,
          abortedTransactions: [{ producerId: 4_000_000_000_001n, firstOffset: 5_000_000_010 }],
          records: Buffer.from('the batches'),
        },
        {
          topic: version < FETCH_BY_TOPIC_ID ? 'orders' : topicId,
          partition: 0,
          errorCode: 1,
          highWatermark: -1,
          lastStableOffset: -1,
          logStartOffset: -1,
          abortedTransactions: [],
          records: Buffer.alloc(0),
        },
      ],
    }),
  ),
  sample(
    produce,
    {
      transactionalId: 'app-1',
      acks: -1,
      timeoutMs: 30_000,
      partitions: [
        { topic: 'orders', partition: 0, records: [Buffer.from('batch one'), Buffer.from('batch two')] },
        { topic: 'orders', partition: 5, records: [Buffer.from('batch three')] },
      ],
    },
    (version) => ({
      throttleMs: 11,
      partitions: [
        { topic: 'orders', partition: 0, errorCode: 0, baseOffset: 5_000_000_000, logAppendTime: -1, errorMessage: null },
        {
          topic: 'orders',
          partition: 5,
          errorCode: 87,
          baseOffset: -1,
          logAppendTime: 1_700_000_000_000,
          errorMessage: version >= 8 ? 'refused' : null,
        },
      ],
    }),
  ),
  sample(findCoordinator, { kind: 'transaction', key: 'app-1' }, { errorCode: 0, errorMessage: null, nodeId: 3, host: 'h3', port: 9094 }),
  sample(
    initProducerId,
    { transactionalId: 'app-1', transactionTimeoutMs: 60_000, current: { producerId: identity.producerId, producerEpoch: 7 } },
    { errorCode: 0, producerId: identity.producerId, producerEpoch: 8 },
  ),
  sample(
    addPartitionsToTxn,
    {
      ...identity,
      partitions: [
        { topic: 'orders', partition: 0 },
        { topic: 'out', partition: 1 },
        { topic: 'orders', partition: 3 },
      ],
    },
    partitionResults,
  ),
  sample(addOffsetsToTxn, { ...identity, groupId: 'app' }, { errorCode: 51 }),
  sample(txnOffsetCommit, { ...identity, ...member, offsets }, partitionResults),
  sample(endTxn, { ...identity, commit: true }, (version) => ({
    errorCode: 0,
    next: version >= 5 ? { producerId: identity.producerId, producerEpoch: 8 } : null,
  })),
  sample(
    listTransactions,
    { states: ['Ongoing'] },
    { errorCode: 0, transactions: [{ transactionalId: 'app-1', producerId: identity.producerId, state: 'Ongoing' }] },
  ),
  sample(
    joinGroup,
    {
      groupId: 'app',
      memberId: 'm-1',
      groupInstanceId: 'static-1',
      sessionTimeoutMs: 45_000,
      rebalanceTimeoutMs: 60_000,
      protocolType: 'consumer',
      protocols: [{ name: 'millrace', metadata: Buffer.from('meta') }],
    },
    {
      errorCode: 0,
      generation: 12,
      protocolName: 'millrace',
      leader: 'm-1',
      memberId: 'm-1',
      members: [{ memberId: 'm-1', groupInstanceId: null, metadata: Buffer.from('meta') }],
    },
  ),
  sample(
    syncGroup,
    { ...member, protocolType: 'consumer', protocolName: 'millrace', assignments: [{ memberId: 'm-1', assignment: Buffer.from('mine') }] },
    { errorCode: 0, assignment: Buffer.from('mine') },
  ),
  sample(heartbeat, member, { errorCode: 27 }),
  sample(leaveGroup, member, { errorCode: 25 }),
  sample(
    offsetFetch,
    {
      groupId: 'app',
      partitions: [
        { topic: 'orders', partition: 0 },
        { topic: 'orders', partition: 1 },
      ],
      requireStable: true,
    },
    {
      errorCode: 0,
      offsets: [
        { topic: 'orders', partition: 0, offset: 42, leaderEpoch: 3, metadata: 'm', errorCode: 0 },
        { topic: 'orders', partition: 1, offset: -1, leaderEpoch: -1, metadata: '', errorCode: 88 },
      ],
    },
  ),
  sample(offsetCommit, { ...member, offsets }, partitionResults),
  sample(
    createTopics,
    { topics: [{ topic: 'orders', partitions: 4, replicationFactor: -1, configs: { 'cleanup.policy': 'compact' } }], timeoutMs: 30_000 },
    [{ topic: 'orders', errorCode: 36, errorMessage: 'exists' }],
  ),
  sample(deleteTopics, { topics: ['orders'], timeoutMs: 30_000 }, (version) => [
    { topic: 'orders', errorCode: 3, errorMessage: version >= 5 ? 'gone' : null },
  ]),
  sample(deleteRecords, { before: [{ topic: 'orders', partition: 0, offset: 5_000_000_000 }], timeoutMs: 30_000 }, [
    { topic: 'orders', partition: 0, errorCode: 0 },
  ]),
  sample(describeConfigs, { topics: ['orders'] }, [
    {
      topic: 'orders',
      errorCode: 0,
      errorMessage: null,
      configs: new Map([
        ['cleanup.policy', 'compact'],
        ['secret', null],
      ]),
    },
  ]),
  sample(describeGroups, { groupIds: ['app'] }, [
    {
      groupId: 'app',
      errorCode: 0,
      state: 'Stable',
      members: [{ memberId: 'm-1', metadata: Buffer.from('meta'), assignment: Buffer.from('mine') }],
    },
  ]),
  sample(deleteGroups, { groupIds: ['app'] }, [{ groupId: 'app', errorCode: 68 }]),
  sample(
    streamsGroupHeartbeat,
    {
      groupId: 'app',
      memberId: 'p-0',
      memberEpoch: 0,
      endpointEpoch: -1,
      groupInstanceId: 'seat-1',
      joining: {
        rebalanceTimeoutMs: 300_000,
        rackId: null,
        processId: 'p',
        endpoint: { host: 'here', port: 40_000 },
        tags: { zone: 'eu', rack: 'r1' },
        topology: {
          epoch: 0,
          subTopologies: [
            {
              id: '0',
              sourceTopics: ['orders', 'prices'],
              repartitionSinkTopics: ['app-by-user-repartition'],
              repartitionSourceTopics: [],
              changelogTopics: [],
              copartitionGroups: [['orders', 'prices']],
            },
            {
              id: '1',
              sourceTopics: [],
              repartitionSinkTopics: [],
              repartitionSourceTopics: [
                {
                  name: 'app-by-user-repartition',
                  partitions: 4,
                  replicationFactor: 3,
                  configs: { 'retention.ms': '-1', 'cleanup.policy': 'delete' },
                },
              ],
              changelogTopics: [
                { name: 'app-counts-changelog', partitions: 0, replicationFactor: 0, configs: { 'cleanup.policy': 'compact' } },
              ],
              copartitionGroups: [],
            },
          ],
        },
      },
      owned: { active: [{ subTopology: '0', partitions: [0, 2] }], standby: [], warmup: [] },
      shutdown: false,
    },
    {
      errorCode: 0,
      errorMessage: null,
      memberEpoch: 7,
      heartbeatIntervalMs: 5000,
      endpointEpoch: 3,
      statuses: [{ code: 5, detail: 'later' }],
      assignment: {
        active: [{ subTopology: '0', partitions: [0, 2] }],
        standby: [{ subTopology: '1', partitions: [1] }],
        warmup: [],
      },
    },
  ),
  sample(streamsGroupDescribe, { groupIds: ['app'] }, [
    {
      groupId: 'app',
      errorCode: 0,
      state: 'Reconciling',
      groupEpoch: 9,
      members: [
        {
          memberId: 'p-0',
          memberEpoch: 7,
          groupInstanceId: 'seat-1',
          processId: 'p',
          endpoint: { host: 'here', port: 40_000 },
          tags: { zone: 'eu' },
          assignment: { active: [{ subTopology: '0', partitions: [0, 2] }], standby: [], warmup: [] },
          target: { active: [{ subTopology: '0', partitions: [0] }], standby: [], warmup: [] },
        },
      ],
    },
  ]),
];
