import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from '@jest/globals';
import { logReceived, sendingLogger, type LogMessage } from '../../../src/app/threads/bridged-logger.js';
import { MessageCalls, type Side } from '../../../src/app/threads/message-calls.js';
import { sendableConfig } from '../../../src/app/threads/sendable-config.js';
import { receiveError, sendError } from '../../../src/app/threads/sent-error.js';
import { KafkaTransportError, MillraceError } from '../../../src/errors.js';
import { serdes } from '../../../src/index.js';

const sent = (error: unknown): Error => receiveError(structuredClone(sendError(error)));

describe('an error that goes to another thread', () => {
  it('of Millrace keeps code, message, cure, details and stack', () => {
    const error = new MillraceError('MILL_PROCESSING', 'count failed', {
      details: { topic: 'in', offset: 7 },
      cause: new TypeError('no such field'),
    });
    const received = sent(error);
    expect(received).toBeInstanceOf(MillraceError);
    expect(received).toMatchObject({
      code: 'MILL_PROCESSING',
      message: error.message,
      cure: error.cure,
      details: error.details,
      stack: error.stack,
    });
    expect(received.cause).toMatchObject({ name: 'TypeError', message: 'no such field' });
  });

  it('of the transport is one still', () => {
    expect(sent(new KafkaTransportError('gone'))).toBeInstanceOf(KafkaTransportError);
  });

  it('of anybody keeps name and fields; what can’t be copied is told as text', () => {
    const error = Object.assign(new RangeError('too far'), { code: 'ERR_FAR', retry: () => undefined });
    expect(sent(error)).toMatchObject({ name: 'RangeError', message: 'too far', code: 'ERR_FAR', retry: '[Function: retry]' });
  });

  it('need not be an error, and its causes may go in circles', () => {
    expect(sent('just text').message).toBe('just text');
    expect(sent({ reason: 5 }).message).toBe('{ reason: 5 }');
    const circular = new Error('round');
    circular.cause = circular;
    expect(sent(circular).message).toBe('round');
  });
});

describe('a log line that goes to another thread', () => {
  it('has its bindings, its errors as errors, and what can’t be copied as text', () => {
    const messages: LogMessage[] = [];
    sendingLogger((message) => messages.push(structuredClone(message)), { thread: 1 })
      .child({ task: '0_1' })
      .warn({ err: new MillraceError('MILL_RETRY', 'again'), call: () => 1, size: 5n }, 'slow');
    const lines: [object, string][] = [];
    const logger = { ...console, child: () => logger, warn: (fields: object, message: string) => lines.push([fields, message]) } as never;
    for (const message of messages) logReceived(logger, message);
    expect(lines).toHaveLength(1);
    const [fields, message] = lines[0]!;
    expect(message).toBe('slow');
    expect(fields).toMatchObject({ thread: 1, task: '0_1', size: 5n, call: '[Function: call]', err: { code: 'MILL_RETRY' } });
  });
});

interface Here extends Side {
  readonly calls: { double: { takes: number; gives: number }; fail: { takes: null; gives: null } };
  readonly events: { news: string };
}
interface There extends Side {
  readonly calls: { nothing: { takes: null; gives: null } };
  readonly events: { nothing: null };
}

describe('calls between threads', () => {
  const { port1, port2 } = new MessageChannel();
  const heard: string[] = [];
  const other = new MessageCalls<There, Here>(port2, { nothing: () => Promise.resolve(null) }, { nothing: () => undefined });
  new MessageCalls<Here, There>(
    port1,
    {
      double: async (number) => 2 * number,
      fail: async () => {
        throw new MillraceError('MILL_STORE_IO', 'disk full');
      },
    },
    { news: (text) => heard.push(text) },
  );

  it('are answered, or fail with the other side’s error; events come in order', async () => {
    other.tell('news', 'one');
    other.tell('news', 'two');
    expect(await Promise.all([other.call('double', 4), other.call('double', 5)])).toEqual([8, 10]);
    expect(heard).toEqual(['one', 'two']);
    await expect(other.call('fail', null)).rejects.toMatchObject({ code: 'MILL_STORE_IO' });
  });

  it('fail once nothing can come any more', async () => {
    const waiting = other.call('double', 1);
    other.end(new Error('the thread is gone'));
    await expect(waiting).rejects.toThrow('the thread is gone');
    await expect(other.call('double', 1)).rejects.toThrow('the thread is gone');
    other.tell('news', 'three');
    port1.close();
  });
});

describe('options that go to a thread', () => {
  const base = { applicationId: 'a', bootstrapServers: ['b:1'], threads: 2 };

  it('are plain data, TLS material too; the logger stays', () => {
    const { config, faults } = sendableConfig({
      ...base,
      ssl: { ca: [Buffer.from('x')] },
      sasl: { mechanism: 'plain' },
      clientTags: { zone: 'z' },
      logger: console as never,
    });
    expect(faults).toEqual([]);
    expect(config).toEqual({ ...base, ssl: { ca: [Buffer.from('x')] }, sasl: { mechanism: 'plain' }, clientTags: { zone: 'z' } });
  });

  it.each([
    ['defaultValueSerde', { defaultValueSerde: serdes.json() }],
    ['processingHandler', { processingHandler: () => 'fail' as const }],
    ['processorWrapper', { processorWrapper: ((inner: unknown) => inner) as never }],
    ['assignor', { assignor: { name: 'own', assign: () => new Map() } }],
    ['sasl', { sasl: { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: 'token' }) } }],
    ['ssl', { ssl: new URL('https://not.plain') }],
  ])('%s with functions in it is refused, with what to do', (option, options) => {
    const { faults } = sendableConfig({ ...base, ...options });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(`${option} can't be sent to threads`);
    expect(faults[0]).toContain(`export const config = { ${option} }`);
  });
});
