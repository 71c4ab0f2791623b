import { expect, it } from '@jest/globals';
import { RecordBatchBuilder } from '../../src/kafka/record-batch/record-batch-builder.js';
import { ChangelogWriter } from '../../src/runtime/changelog-writer.js';

it('a row that no changelog record can hold is told with its store, its topic and its key', () => {
  const builder = new RecordBatchBuilder({ maxBatchBytes: 500 });
  const writer = new ChangelogWriter(new Map([['totals', 'app-totals-changelog']]), 3, { builder: () => builder });
  const [key, small, large] = [Buffer.from('..hot-key..'), Buffer.alloc(10), Buffer.alloc(1_000)];
  writer.append('totals', 0, key, 2, 9, small, 0, 10);
  const tooLarge = (): void => writer.append('totals', 0, key, 2, 9, large, 0, 1_000);
  expect(tooLarge).toThrow(
    /A row of store totals has \d+ bytes, and its changelog app-totals-changelog takes batches of 500: .* Its key begins with "hot-key"\./,
  );
  expect(tooLarge).toThrow(
    expect.objectContaining({
      code: 'MILL_RECORD_TOO_LARGE',
      details: expect.objectContaining({ store: 'totals', topic: 'app-totals-changelog' }),
    }),
  );
});
