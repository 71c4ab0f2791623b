import { describe } from '@jest/globals';
import { portSuite } from '../../test/kafka/port-suite.js';
import { openPort } from './broker-fixture.js';

describe('the port of a real broker', () => {
  portSuite({
    shortestSessionMs: 1000,
    async open(options) {
      const port = openPort(undefined, options);
      await port.connect();
      return port;
    },
  });
});
