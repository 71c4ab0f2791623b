/** ListOffsets over any number of partitions: split by leader and isolation, with one fresh look at the leaders where they had changed. */
import { ErrorCodes } from '../error-codes.js';
import type { IsolationLevel, KafkaPort, OffsetAnswer, OffsetQuery } from '../port.js';
import { listOffsets } from '../protocol/list-offsets.js';
import type { ClusterConnections } from './cluster-connections.js';

const LEADER_MOVED: ReadonlySet<number> = new Set([
  ErrorCodes.UNKNOWN_TOPIC_OR_PARTITION,
  ErrorCodes.LEADER_NOT_AVAILABLE,
  ErrorCodes.NOT_LEADER_OR_FOLLOWER,
  ErrorCodes.REPLICA_NOT_AVAILABLE,
  ErrorCodes.FENCED_LEADER_EPOCH,
  ErrorCodes.UNKNOWN_LEADER_EPOCH,
]);

/** Answers in the order of the queries. */
export async function listOffsetsOfLeaders(
  port: KafkaPort,
  cluster: ClusterConnections,
  queries: readonly OffsetQuery[],
): Promise<readonly OffsetAnswer[]> {
  const answers = await ask(port, cluster, queries, false);
  const moved = queries.filter((_, index) => LEADER_MOVED.has(answers[index]?.errorCode ?? 0));
  if (moved.length === 0) return answers;
  const again = await ask(port, cluster, moved, true);
  const better = new Map(moved.map((query, index) => [query, again[index]]));
  return queries.flatMap((query, index) => better.get(query) ?? answers[index] ?? []);
}

async function ask(
  port: KafkaPort,
  cluster: ClusterConnections,
  queries: readonly OffsetQuery[],
  refresh: boolean,
): Promise<readonly OffsetAnswer[]> {
  const { topics } = await port.metadata([...new Set(queries.map((query) => query.topic))], { refresh });
  const requests = new Map<string, { leader: number; isolation: IsolationLevel; indexes: number[] }>();
  const answers = queries.map(({ topic, partition }, index): OffsetAnswer => {
    const known = topics.get(topic);
    const leader = known?.partitions[partition]?.leader;
    if (leader === undefined) {
      const errorCode = known === undefined || known.errorCode === 0 ? ErrorCodes.UNKNOWN_TOPIC_OR_PARTITION : known.errorCode;
      return { topic, partition, errorCode, offset: -1 };
    }
    if (leader >= 0) {
      const isolation = queries[index]?.isolation ?? 'read_uncommitted';
      const key = `${leader} ${isolation}`;
      const request = requests.get(key) ?? { leader, isolation, indexes: [] };
      requests.set(key, request);
      request.indexes.push(index);
    }
    return { topic, partition, errorCode: ErrorCodes.LEADER_NOT_AVAILABLE, offset: -1 };
  });
  await Promise.all(
    [...requests.values()].flatMap(({ leader, isolation, indexes }) =>
      onePerPartition(queries, indexes).map(async (part) => {
        const asked = part.flatMap((index) => queries[index] ?? []);
        const told = await cluster.with('main', leader, (connection) => connection.send(listOffsets, { isolation, queries: asked }));
        for (const index of part) {
          const query = queries[index];
          const answer = told.find((one) => one.topic === query?.topic && one.partition === query.partition);
          if (answer !== undefined) answers[index] = answer;
        }
      }),
    ),
  );
  return answers;
}

/** A broker refuses a request that names a partition twice, so earliest and latest of one partition go in two. */
function onePerPartition(queries: readonly OffsetQuery[], indexes: readonly number[]): number[][] {
  const parts: { readonly seen: Set<string>; readonly indexes: number[] }[] = [];
  for (const index of indexes) {
    const query = queries[index];
    const key = `${query?.topic ?? ''} ${query?.partition ?? 0}`;
    let part = parts.find(({ seen }) => !seen.has(key));
    if (part === undefined) parts.push((part = { seen: new Set(), indexes: [] }));
    part.seen.add(key);
    part.indexes.push(index);
  }
  return parts.map((part) => part.indexes);
}
