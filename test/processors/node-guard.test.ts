import { describe, expect, it, jest } from '@jest/globals';
import { MillraceError } from '../../src/errors.js';
import { NodeGuard, type ProcessingErrorHandler } from '../../src/processors/node-guard.js';
import type { Downstream } from '../../src/processors/operator.js';

const failing: Downstream = {
  process: () => {
    throw new Error('user fault');
  },
};
const rejecting: Downstream = { process: () => Promise.reject(new Error('user fault')) };
const handler = (answer: 'fail' | 'skip') => jest.fn<ProcessingErrorHandler>(() => answer);

describe('node guard', () => {
  it('leaves a record alone that goes well', () => {
    const onError = handler('fail');
    expect(new NodeGuard('n', { process: () => undefined }, onError).process('k', 'v', 1)).toBeUndefined();
    expect(onError).not.toHaveBeenCalled();
  });

  it.each([
    ['thrown', failing],
    ['rejected', rejecting],
  ])('"fail" makes MILL_PROCESSING of a %s error and names the node', async (_name, node) => {
    const onError = handler('fail');
    const guard = new NodeGuard('KSTREAM-MAP-1', node, onError);
    await expect(async () => guard.process('k', 'v', 7)).rejects.toMatchObject({
      code: 'MILL_PROCESSING',
      details: { node: 'KSTREAM-MAP-1' },
    });
    expect(onError).toHaveBeenCalledWith({
      error: expect.objectContaining({ message: 'user fault' }),
      node: 'KSTREAM-MAP-1',
      key: 'k',
      value: 'v',
      isOfWaiting: false,
      timestamp: 7,
      attempt: 1,
      call: 0,
      repeatable: false,
    });
  });

  it.each([
    ['thrown', failing],
    ['rejected', rejecting],
  ])('"skip" ends a record with a %s error quietly', async (_name, node) => {
    await expect((async () => new NodeGuard('n', node, handler('skip')).process('k', 'v', 7))()).resolves.toBeUndefined();
  });

  it('a handler may answer later', async () => {
    const guard = new NodeGuard('n', failing, () => Promise.resolve('skip'));
    await expect(guard.process('k', 'v', 7)).resolves.toBeUndefined();
    const strict = new NodeGuard('n', failing, () => Promise.resolve('fail'));
    await expect(strict.process('k', 'v', 7)).rejects.toMatchObject({ code: 'MILL_PROCESSING' });
  });

  it('only the guard of the node at fault is asked', () => {
    const below = handler('fail');
    const above = handler('skip');
    const inner = new NodeGuard('inner', failing, below);
    const outer = new NodeGuard('outer', { process: (key, value, timestamp) => inner.process(key, value, timestamp) }, above);
    expect(() => outer.process('k', 'v', 7)).toThrow(expect.objectContaining({ code: 'MILL_PROCESSING', details: { node: 'inner' } }));
    expect(above).not.toHaveBeenCalled();
  });

  it('errors that have their address pass through', () => {
    const onError = handler('skip');
    const error = new MillraceError('MILL_PRODUCTION', 'too large');
    const sink: Downstream = {
      process: () => {
        throw error;
      },
    };
    expect(() => new NodeGuard('n', sink, onError).process('k', 'v', 7)).toThrow(error);
    expect(onError).not.toHaveBeenCalled();
  });

  it('punctuations are guarded too', async () => {
    const onError = handler('skip');
    const guard = new NodeGuard('n', failing, onError);
    expect(guard.punctuate(() => undefined, 5)).toBeUndefined();
    await guard.punctuate(() => Promise.reject(new Error('user fault')), 6);
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ node: 'n', key: null, value: null, timestamp: 6 }));
  });
});
