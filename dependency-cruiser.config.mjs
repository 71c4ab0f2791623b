// The import arrows of src/: which folder may import which. A folder that is not in this table may import everything.

/** The part of src/stores that says what a store is, without engines, caches and changelogs. */
const storeInterfaces = 'stores/store';

const leaves = ['errors', 'bytes', 'observability'];
const pure = ['time', 'serdes', storeInterfaces, ...leaves];
const arrows = {
  bytes: [],
  observability: ['bytes', 'errors'],
  time: leaves,
  serdes: ['time', ...leaves],
  processors: pure,
  topology: ['processors', ...pure],
  dsl: ['topology', 'processors', ...pure],
  kafka: leaves,
  transactions: ['kafka', ...leaves],
  rebalance: ['kafka', ...leaves],
  stores: ['kafka', 'serdes', 'time', ...leaves],
  runtime: ['transactions', 'rebalance', 'stores', 'kafka', 'topology', 'processors', 'time', 'serdes', ...leaves],
  queries: ['rebalance', 'stores', 'topology', 'time', 'serdes', 'kafka', ...leaves],
  'query-server': ['app', 'queries', ...leaves],
  app: ['queries', 'runtime', 'transactions', 'rebalance', 'stores', 'kafka', 'dsl', 'topology', 'processors', 'time', 'serdes', ...leaves],
};

const mayImport = Object.entries(arrows).map(([folder, allowed]) => ({
  name: `arrows-of-${folder}`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: [folder, ...allowed].map((target) => `^src/${target}(/|-|\\.ts$)`) },
}));

export default {
  forbidden: [
    ...mayImport,
    {
      name: 'pure-folders-do-no-io',
      comment: 'Topology, time, serdes and processors see the world through ports.',
      severity: 'error',
      from: { path: '^src/(topology|time|serdes|processors)/' },
      to: { path: '^(node:)?(fs|net|tls|http|https|http2|dgram|dns|child_process|worker_threads|cluster)(/|$)' },
    },
    {
      name: 'kafkajs-stays-behind-the-port',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/kafka/kafkajs' },
      to: { path: 'node_modules/kafkajs' },
    },
    {
      name: 'no-circular-imports',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'only-declared-packages',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown'], dependencyTypesNot: ['npm', 'npm-peer'] },
    },
    { name: 'imports-resolve', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
