import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';

import { ErrorCodes, errorName, errorTreatment, isAuthorizationError, kafkaErrorCodes } from '../../src/kafka/error-codes.js';

interface JavaError {
  readonly code: number;
  readonly name: string;
  readonly retriable: boolean;
}

const { errors } = JSON.parse(readFileSync(new URL('kafka-4.4-errors.json', import.meta.url), 'utf8')) as { errors: JavaError[] };

describe('error codes', () => {
  it('are those of Kafka 4.4, all of them, under the same names', () => {
    expect(kafkaErrorCodes.map(({ code, name }) => ({ code, name }))).toEqual(errors.map(({ code, name }) => ({ code, name })));
  });

  it('that the Java client retries are retried', () => {
    const given = errors.filter((error) => error.retriable && errorTreatment(error.code) !== 'retry').map((error) => error.name);
    expect(given).toEqual([]);
  });

  it('put what ends a producer epoch apart from what ends the job', () => {
    expect(errorTreatment(ErrorCodes.PRODUCER_FENCED)).toBe('fenced');
    expect(errorTreatment(ErrorCodes.INVALID_PRODUCER_EPOCH)).toBe('fenced');
    expect(errorTreatment(ErrorCodes.TRANSACTION_ABORTABLE)).toBe('abort');
    expect(errorTreatment(ErrorCodes.INVALID_TXN_STATE)).toBe('abort');
    expect(errorTreatment(ErrorCodes.ILLEGAL_GENERATION)).toBe('abort');
    expect(errorTreatment(ErrorCodes.CONCURRENT_TRANSACTIONS)).toBe('retry');
    expect(errorTreatment(ErrorCodes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)).toBe('fatal');
    expect(errorTreatment(ErrorCodes.NONE)).toBe('none');
  });

  it('that a newer broker invents are fatal and named by their number', () => {
    expect(errorName(4711)).toBe('UNKNOWN_ERROR_CODE_4711');
    expect(errorTreatment(4711)).toBe('fatal');
  });

  it('have the names that the constants say', () => {
    for (const [name, code] of Object.entries(ErrorCodes)) expect(errorName(code)).toBe(name);
  });

  it('tell missing rights apart', () => {
    expect([29, 30, 31, 53, 3].map(isAuthorizationError)).toEqual([true, true, true, true, false]);
  });
});
