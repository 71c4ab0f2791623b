import { describe } from '@jest/globals';
import { alterGroupSettings } from '../../scripts/stack/group-settings.js';
import { portSuite } from '../../test/kafka/port-suite.js';
import { openPort } from './broker-fixture.js';

describe('the port of a real broker', () => {
  portSuite({
    shortestSessionMs: 1000,
    alterGroup: (groupId, settings) => alterGroupSettings((process.env['KAFKA_BROKERS'] ?? '').split(','), groupId, settings),
    async open(options) {
      const port = openPort(undefined, options);
      await port.connect();
      return port;
    },
  });
});
