import { describe, expect, it } from '@jest/globals';
import { KafkaTransportError } from '../../src/errors.js';
import { silentLogger } from '../../src/observability/logger.js';
import { belongsTo, fenceDeadOwners, transactionalIdOf, type FenceDeadOwnersOptions } from '../../src/transactions/dead-owner.js';

const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const id = (n: number, application = 'a'): string => transactionalIdOf(application, uuid(n), 0);

interface Cluster {
  readonly open?: readonly string[] | null;
  /** Error codes of InitProducerId in turn; `lost` breaks the connection. */
  readonly answers?: (number | 'lost')[];
}

function setUp({ open = [], answers = [] }: Cluster, options: Partial<FenceDeadOwnersOptions> = {}) {
  const initialised: string[] = [];
  const refreshes: boolean[] = [];
  const port: FenceDeadOwnersOptions['port'] = {
    listOpenTransactions: async () => open,
    findCoordinator: async (_, __, how) => {
      refreshes.push(how?.refresh ?? false);
      return 0;
    },
    initProducerId: async (_, request) => {
      initialised.push(request.transactionalId ?? '');
      const errorCode = answers.shift() ?? 0;
      if (errorCode === 'lost') throw new KafkaTransportError('the connection broke');
      return { errorCode, producerId: 1n, producerEpoch: 1 };
    },
  };
  const fence = (): Promise<readonly string[]> =>
    fenceDeadOwners({
      port,
      applicationId: 'a',
      candidates: [],
      liveTransactionalIds: () => new Set(),
      isStillCurrent: () => true,
      logger: silentLogger,
      ...options,
    });
  return { fence, initialised, refreshes };
}

describe('fencing dead owners', () => {
  it('takes the ids of committed offsets and of open transactions, but for the live ones', async () => {
    const live = new Set([id(2), id(4)]);
    const { fence } = setUp({ open: [id(1), id(2)] }, { candidates: [id(3), id(4), id(1)], liveTransactionalIds: () => live });
    expect([...(await fence())].sort()).toEqual([id(1), id(3)]);
  });

  it('never takes an id of another application, however alike the names are', async () => {
    const { fence, initialised } = setUp({ open: [id(1, 'a-b'), id(1, 'ab'), 'a-something-0'] }, { candidates: [id(1, 'b')] });
    expect(await fence()).toEqual([]);
    expect(initialised).toEqual([]);
  });

  it('does nothing while the membership is not stable', async () => {
    const { fence, initialised } = setUp({ open: [id(1)] }, { liveTransactionalIds: () => null });
    expect(await fence()).toEqual([]);
    expect(initialised).toEqual([]);
  });

  it('stops as soon as this member’s generation is over', async () => {
    let asked = 0;
    const { fence, initialised } = setUp({ open: [id(1), id(2)] }, { isStillCurrent: () => ++asked <= 2 });
    expect(await fence()).toEqual([id(1)]);
    expect(initialised).toEqual([id(1)]);
  });

  it('reads the members anew once it knows whose transactions are open: who began one by then is among them', async () => {
    const live = new Set<string>();
    const begun: string[] = [];
    const { fence, initialised } = setUp(
      { open: begun },
      {
        liveTransactionalIds: () => live,
        refreshMembers: async () => {
          expect(begun).toEqual([id(1), id(2)]);
          live.add(id(1));
        },
        candidates: [id(3)],
      },
    );
    begun.push(id(1), id(2));
    expect([...(await fence())].sort()).toEqual([id(2), id(3)]);
    expect(initialised).not.toContain(id(1));
  });

  it('fences nobody while the members can’t be read', async () => {
    const refreshMembers = async (): Promise<void> => {
      throw new KafkaTransportError('the connection broke');
    };
    const { fence, initialised } = setUp({ open: [id(1)] }, { refreshMembers });
    expect(await fence()).toEqual([]);
    expect(initialised).toEqual([]);
  });

  it('spares a member that joined meanwhile', async () => {
    const live = new Set<string>();
    const { fence, initialised } = setUp({ open: [id(1)], answers: [51, 0] }, { liveTransactionalIds: () => live });
    const fenced = fence();
    live.add(id(1));
    expect(await fenced).toEqual([]);
    expect(initialised).toEqual([]);
  });

  it('goes on through CONCURRENT_TRANSACTIONS, a moved coordinator and a broken connection', async () => {
    const { fence, initialised, refreshes } = setUp({ open: [id(1)], answers: [51, 16, 'lost', 0] });
    expect(await fence()).toEqual([id(1)]);
    expect(initialised).toHaveLength(4);
    expect(refreshes).toEqual([false, false, true, true]);
  });

  it('leaves an id alone that it has no rights to', async () => {
    const { fence } = setUp({ open: [id(1), id(2)], answers: [53, 0] });
    expect(await fence()).toEqual([id(2)]);
  });

  it('works from committed metadata alone where the cluster can’t list transactions', async () => {
    const { fence } = setUp({ open: null }, { candidates: [id(1)] });
    expect(await fence()).toEqual([id(1)]);
  });
});

describe('a transactional id', () => {
  it('belongs to exactly one application', () => {
    expect(belongsTo('a', id(1))).toBe(true);
    expect(belongsTo('a', id(1, 'a-b'))).toBe(false);
    expect(belongsTo('a-b', id(1, 'a-b'))).toBe(true);
    expect(belongsTo('a', `a-${uuid(1)}-x`)).toBe(false);
    expect(belongsTo('a', `a-${uuid(1)}`)).toBe(false);
  });
});
