import { describe, expect, it } from '@jest/globals';

import { parseBrokerAddress } from '../../../src/kafka/kafkajs/broker-address.js';

describe('broker addresses', () => {
  it.each([
    ['localhost:9092', 'localhost', 9092],
    ['kafka-1.example.org', 'kafka-1.example.org', 9092],
    ['PLAINTEXT://kafka:19092', 'kafka', 19_092],
    ['SASL_SSL://kafka:19092', 'kafka', 19_092],
    ['[::1]:9093', '::1', 9093],
    [' 10.0.0.1:1 ', '10.0.0.1', 1],
  ])('%s', (text, host, port) => {
    expect(parseBrokerAddress(text)).toEqual({ host, port });
  });

  it.each(['', 'host:', 'host:0', 'host:70000', 'a:b:c', 'host:9092/x', '::1:9092'])('refuses "%s"', (text) => {
    expect(() => parseBrokerAddress(text)).toThrow('is not a broker address');
  });
});
