/** A job of lookups and of an aggregation in two stages, as the process that its test starts and kills. */
import { serdes, StreamsApp, StreamsBuilder, type StreamsConfig } from 'millrace';
import { runJob, tell } from './job-line.js';

export interface EnrichmentTopics {
  readonly input: string;
  readonly joined: string;
  readonly sums: string;
}

export interface EnrichmentSetup {
  readonly topics: EnrichmentTopics;
  readonly config: Pick<StreamsConfig, 'applicationId' | 'bootstrapServers'> & Partial<StreamsConfig>;
}

const { topics, config } = JSON.parse(process.env['JOB_SETUP'] ?? '') as EnrichmentSetup;

/** A service that takes its time, and now and then is busy. Each key that it is asked for is told to the test. */
async function rowOf(key: string): Promise<string | null> {
  tell({ kind: 'log', level: 'info', message: 'asked', fields: key });
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
  if (Math.random() < 0.1) throw new Error('the service is busy');
  return key.endsWith('7') ? null : `row of ${key}`;
}

const builder = new StreamsBuilder();
const input = builder.stream(topics.input, { keySerde: serdes.string, valueSerde: serdes.int32 });
input
  .leftLookupJoin(rowOf, (value, row) => `${value} ${row ?? 'none'}`, {
    name: 'rows',
    keyOf: (_value, key) => key,
    cache: { ttl: 3_600_000 },
    retry: { attempts: 1000, backoff: 5, maxBackoff: 50 },
    valueSerde: serdes.string,
  })
  .to(topics.joined);
input
  .groupBy((value) => `group-${value % 3}`, { keySerde: serdes.string })
  .aggregate(
    {
      initial: () => ({ sum: 0, count: 0 }),
      add: ({ sum, count }, value: number) => ({ sum: sum + value, count: count + 1 }),
      merge: (a, b) => ({ sum: a.sum + b.sum, count: a.count + b.count }),
      result: ({ sum, count }) => `${sum}/${count}`,
    },
    {
      twoStage: true,
      materialized: { storeName: 'sums', valueSerde: serdes.json<{ sum: number; count: number }>() },
      valueSerde: serdes.string,
    },
  )
  .toStream()
  .to(topics.sums);

runJob(new StreamsApp(builder.build(), config));
