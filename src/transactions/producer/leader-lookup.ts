/**
 * Knows which output partitions have no known leader and asks the metadata for them: one request at a time, repeated with a pause
 * while the cluster has no answer. A topic that the cluster does not know is waited for a bounded time only.
 */
import { backoffMs } from '../../kafka/backoff.js';
import { errorTreatment } from '../../kafka/error-codes.js';
import type { TopicMetadata } from '../../kafka/port.js';
import { saysTopicMissing } from './answer-class.js';
import type { OutputPartition } from './output-partition.js';
import { brokerRefused, topicMissing } from './producer-failure.js';
import { retryPause } from './retry-pause.js';
import type { ProducerCommand, ProducerFailure } from './producer-protocol.js';

export interface LeaderLookupOptions {
  readonly missingTopicTimeoutMs: number;
  readonly random: () => number;
  readonly nextCall: () => number;
}

export class LeaderLookup {
  private readonly known = new Map<string, TopicMetadata>();
  private readonly wanted = new Set<string>();
  /** Topics whose remembered metadata proved wrong. */
  private readonly outdated = new Set<string>();
  private readonly missingSince = new Map<string, number>();
  private call = -1;
  private notBefore = 0;
  private failures = 0;

  constructor(private readonly options: LeaderLookupOptions) {}

  /** Fills the leader in when it is known, or asks for it. */
  find(partition: OutputPartition): void {
    partition.leader = this.known.get(partition.topic)?.partitions[partition.partition]?.leader ?? -1;
    if (partition.leader < 0) this.wanted.add(partition.topic);
  }

  /** What is known of the partition is wrong: nothing goes to it until the cluster, and not the client's memory, has answered. */
  stale(partition: OutputPartition): void {
    partition.leader = -1;
    this.known.delete(partition.topic);
    this.wanted.add(partition.topic);
    this.outdated.add(partition.topic);
  }

  missing(topic: string, now: number): void {
    if (!this.missingSince.has(topic)) this.missingSince.set(topic, now);
  }

  owns(call: number): boolean {
    return call === this.call;
  }

  ask(now: number, commands: ProducerCommand[]): void {
    if (this.call >= 0 || this.wanted.size === 0 || this.notBefore > now) return;
    this.call = this.options.nextCall();
    const refresh = this.failures > 0 || this.outdated.size > 0;
    commands.push({ kind: 'refreshMetadata', call: this.call, topics: [...this.wanted], refresh });
    this.wanted.clear();
    this.outdated.clear();
  }

  answered(
    topics: ReadonlyMap<string, TopicMetadata>,
    partitions: Iterable<OutputPartition>,
    busy: ReadonlySet<OutputPartition>,
    now: number,
  ): ProducerFailure | null {
    this.call = -1;
    let isComplete = true;
    for (const [name, topic] of topics) this.known.set(name, topic);
    for (const partition of partitions) {
      const topic = topics.get(partition.topic);
      if (topic === undefined) continue;
      const described = topic.partitions[partition.partition];
      partition.leader = described?.leader ?? -1;
      if (partition.leader >= 0) {
        this.missingSince.delete(partition.topic);
        continue;
      }
      if (!busy.has(partition)) continue;
      isComplete = false;
      if (topic.errorCode !== 0 && errorTreatment(topic.errorCode) === 'fatal') {
        return brokerRefused('Metadata', 'fatal', topic.errorCode, partition);
      }
      if (described !== undefined && !saysTopicMissing(topic.errorCode)) continue;
      this.missing(partition.topic, now);
      const missingForMs = now - (this.missingSince.get(partition.topic) ?? now);
      if (missingForMs >= this.options.missingTopicTimeoutMs) return topicMissing(partition, missingForMs, topic.partitions.length);
    }
    if (isComplete) this.failures = 0;
    else this.pause(now);
    return null;
  }

  lost(now: number): void {
    this.call = -1;
    this.pause(now);
  }

  nextWake(now: number): number {
    return this.call < 0 && this.wanted.size > 0 && this.notBefore > now ? this.notBefore : Infinity;
  }

  private pause(now: number): void {
    this.failures++;
    this.notBefore = now + backoffMs(this.failures, retryPause, this.options.random);
  }
}
