import { describe, expect, it } from '@jest/globals';
import { KafkaTransportError } from '../../src/errors.js';
import type { KafkaPort, OffsetFetchResponse } from '../../src/kafka/port.js';
import { silentLogger, type Logger } from '../../src/observability/logger.js';
import { fetchCommittedOffsets } from '../../src/transactions/committed-offsets.js';

const partition = { topic: 'in', partition: 0 };
const found = (offset: number, errorCode = 0): OffsetFetchResponse => ({
  errorCode: 0,
  offsets: [{ ...partition, offset, leaderEpoch: -1, metadata: `m${offset}`, errorCode }],
});
const refusedAs = (errorCode: number): OffsetFetchResponse => ({ errorCode, offsets: [] });

/** A coordinator that gives its answers one by one. */
function ask(
  answers: readonly (OffsetFetchResponse | Error)[],
  options: {
    readonly requireStable?: boolean;
    readonly signal?: AbortSignal;
    readonly logger?: Logger;
    readonly now?: () => number;
    readonly open?: readonly string[] | Error | null;
  } = {},
) {
  const left = [...answers];
  const seen = { refreshes: 0, stable: [] as boolean[], fenced: [] as unknown[] };
  const port = {
    findCoordinator: async (_kind: string, _key: string, { refresh }: { refresh?: boolean }) => (refresh === true && seen.refreshes++, 1),
    offsetFetch: async (_broker: number, { requireStable }: { requireStable: boolean }) => {
      seen.stable.push(requireStable);
      const next = left.shift() ?? found(-1);
      if (next instanceof Error) throw next;
      return next;
    },
    listOpenTransactions: async () => {
      if (options.open instanceof Error) throw options.open;
      return options.open ?? null;
    },
  } as unknown as KafkaPort;
  const offsets = fetchCommittedOffsets(
    {
      port,
      groupId: 'app',
      requireStable: options.requireStable ?? true,
      logger: options.logger ?? silentLogger,
      now: options.now,
      fenceDeadOwners: async (metadata) => void seen.fenced.push(metadata),
    },
    [partition],
    options.signal ?? new AbortController().signal,
  );
  return { offsets, seen };
}

describe('the committed offsets of partitions just taken over', () => {
  it('are those that no open transaction can change', async () => {
    const { offsets, seen } = ask([found(5)]);
    expect(await offsets).toMatchObject([{ topic: 'in', partition: 0, offset: 5, metadata: 'm5' }]);
    expect(seen.stable).toEqual([true]);
  });

  it('are asked for again while they are pending, after fencing owners named in what was committed before', async () => {
    const { offsets, seen } = ask([found(-1, 88), found(3), found(-1, 88), found(3), found(9)]);
    expect(await offsets).toMatchObject([{ offset: 9 }]);
    expect(seen.stable).toEqual([true, false, true, false, true]);
    expect(seen.fenced).toEqual([['m3'], ['m3']]);
  });

  /** Asks while offsets are pending for 36 s of the given clock. */
  async function heard(open: readonly string[] | Error | null) {
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (details: object, message?: string) => void warnings.push({ ...details, message }) };
    let now = 0;
    const pending = Array.from({ length: 3 }, () => [found(-1, 88), found(3)]).flat();
    const { offsets } = ask([...pending, found(9)], { logger, now: () => (now += 6_000), open });
    expect(await offsets).toMatchObject([{ offset: 9 }]);
    return warnings;
  }

  it.each([[['app-1-0']], [null], [new KafkaTransportError('gone')]])(
    'are waited for audibly: every ten seconds the log says which are held back (open: %s)',
    async (open) => {
      expect(await heard(open)).toEqual([
        {
          groupId: 'app',
          partitions: ['in-0'],
          waitedMs: expect.any(Number),
          openTransactions: open instanceof Error ? null : open,
          message: 'committed offsets are held back by an open transaction; the task starts when it has ended',
        },
      ]);
    },
  );

  it('that no open transaction holds back are the broker’s fault, and the log says so', async () => {
    expect(await heard([])).toMatchObject([
      { openTransactions: [], message: expect.stringContaining('the broker has lost the end of one, which only an operator can mend') },
    ]);
  });

  it('are found at another coordinator when it moves or goes away', async () => {
    const { offsets, seen } = ask([refusedAs(16), new KafkaTransportError('gone'), refusedAs(14), found(2)]);
    expect(await offsets).toMatchObject([{ offset: 2 }]);
    expect(seen.refreshes).toBe(3);
  });

  it('can’t be read when the broker forbids it', async () => {
    await expect(ask([refusedAs(30)]).offsets).rejects.toMatchObject({ code: 'MILL_BROKER_ERROR', details: { brokerErrorCode: 30 } });
    await expect(ask([found(-1, 29)]).offsets).rejects.toMatchObject({ code: 'MILL_BROKER_ERROR', details: { brokerErrorCode: 29 } });
  });

  it('are no longer waited for when the task is given up', async () => {
    const stop = new AbortController();
    const { offsets } = ask(
      Array.from({ length: 1000 }, () => found(-1, 88)),
      { signal: stop.signal },
    );
    stop.abort(new Error('given up'));
    await expect(offsets).rejects.toThrow('given up');
  });
});
