/// <reference types="node" preserve="true" />
/**
 * `millrace/testing`: topologies run without a broker, for the unit tests of an app.
 *
 * @module millrace/testing
 */
export { TopologyTestDriver, type TopicSerdes } from './topology-test-driver.js';
export type { TestDriverConfig } from './test-driver-config.js';
export { TestInputTopic, type PipeOptions } from './test-input-topic.js';
export { TestOutputTopic } from './test-output-topic.js';
export type { TestRecord } from './test-record.js';
