import { describe } from '@jest/globals';
import { inMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { portSuite } from './port-suite.js';

describe('the port of the in-memory cluster', () => {
  const shortestSessionMs = 300;
  const kafka = inMemoryKafka({ minSessionTimeoutMs: shortestSessionMs });
  portSuite({
    shortestSessionMs,
    async alterGroup(groupId, settings) {
      kafka.alterGroup(groupId, settings);
    },
    async open(options) {
      const port = kafka.port(options);
      await port.connect();
      return port;
    },
  });
});
