import { describe, expect, it } from '@jest/globals';
import { KafkaTransportError, MillraceError, errorTable, type ErrorCode } from '../../src/errors.js';
import { recoveryOf } from '../../src/runtime/recovery.js';

describe('what a thread mends by itself', () => {
  const mended: readonly ErrorCode[] = [
    'MILL_RETRY',
    'MILL_TRANSACTION_ABORTED',
    'MILL_PRODUCER_FENCED',
    'MILL_TRANSPORT',
    'MILL_BROKER_UNREACHABLE',
    'MILL_STORE_CORRUPTED',
    'MILL_STORE_DIRECTORY_LOCKED',
  ];
  it.each(Object.keys(errorTable) as ErrorCode[])('%s', (code) => {
    expect(recoveryOf(new MillraceError(code, 'x'))).toBe(mended.includes(code) ? 'recover' : 'ask');
  });

  it('is also a broker’s answer that passes, such as a leader being elected or a fault of its own', () => {
    const answered = (brokerErrorCode: number): MillraceError =>
      new MillraceError('MILL_BROKER_ERROR', 'x', { details: { brokerErrorCode } });
    expect([5, 6, 14, 16, -1].map((code) => recoveryOf(answered(code)))).toEqual(Array(5).fill('recover'));
    expect([29, 35, 9999].map((code) => recoveryOf(answered(code)))).toEqual(['ask', 'ask', 'ask']);
  });

  it('is a lost connection, and nothing that others throw', () => {
    expect(recoveryOf(new KafkaTransportError('gone'))).toBe('recover');
    expect(recoveryOf(new TypeError('x is not a function'))).toBe('ask');
    expect(recoveryOf(undefined)).toBe('ask');
  });
});
