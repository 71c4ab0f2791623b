/// <reference types="node" preserve="true" />
/**
 * `millrace/testing`: topologies and whole apps run without a broker, for the unit tests of an app.
 *
 * @module millrace/testing
 */
export { inMemoryKafka, type InstanceConfig, type TestKafka, type TestKafkaOptions } from './test-kafka.js';
export { TopologyTestDriver } from './topology-test-driver.js';
export type { TopicSerdes } from './topic-serdes.js';
export type { TestDriverConfig } from './test-driver-config.js';
export { TestInputTopic, type PipeOptions } from './test-input-topic.js';
export { TestOutputTopic } from './test-output-topic.js';
export type { TestRecord } from './test-record.js';
export { TestHarness } from './test-harness.js';
export type { TestHarnessOptions } from './test-harness.js';
export { MultiInputTestHarness } from './multi-input-test-harness.js';
export type {
  HarnessInputOf,
  HarnessInputOptions,
  HarnessInputs,
  HarnessStreams,
  MultiInputTestHarnessOptions,
} from './multi-input-test-harness.js';
export { OperatorHarness } from './operator-harness.js';
export type { HarnessOptions, HarnessOutputs, HarnessRecord, HarnessRecordOf, HarnessTimer } from './operator-harness.js';
export { HarnessInput } from './harness-input.js';
export type { HarnessPushOptions, HarnessWatermarkOptions } from './harness-input.js';
export type { HarnessSnapshot, ReachedWatermark, SnapshotRow } from './harness-snapshot.js';
