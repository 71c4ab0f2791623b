import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Names of rows to run; empty: all but the long ones. */
  readonly rows: readonly string[];
  readonly rounds: number;
  /** Records of the measured span of each round; a quarter as many are processed before it. */
  readonly records: number;
  /** Where to write the result as JSON, or null. */
  readonly json: string | null;
  /** Where to write the result as a Markdown table, or null. */
  readonly markdown: string | null;
  /** Folder for the pictures of the curves, or null. */
  readonly pictures: string | null;
  /** Folder for CPU profiles of our side, or null. */
  readonly profile: string | null;
  /** Our side alone, and no table: for profiles, and to compare two states of the code. */
  readonly oursAlone: boolean;
  readonly jvmArguments: readonly string[];
}

export const usage = `Usage: npm run bench -- [row…] [options]

  row             name of a row, or its start and a star: 'curve-*'
  --records N     records measured in each round (default 2000000, after a warm-up of a quarter as many)
  --rounds N      rounds of each row, both sides in turn (default 3)
  --json FILE     write the result as JSON
  --markdown FILE write the result as a Markdown table
  --pictures DIR  draw the curves that were measured, an SVG each
  --ours          run our side alone and tell each round; no table
  --profile DIR   write CPU profiles of our side's processes
  --java-opts S   JVM arguments of the other side (default "-Xmx1g")`;

/** @throws Error that says what is wrong with the command line */
export function parseOptions(args: string[], known: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      records: { type: 'string', default: '2000000' },
      rounds: { type: 'string', default: '3' },
      json: { type: 'string' },
      markdown: { type: 'string' },
      pictures: { type: 'string' },
      ours: { type: 'boolean', default: false },
      profile: { type: 'string' },
      'java-opts': { type: 'string', default: '-Xmx1g' },
    },
  });
  const asked = positionals.flatMap((pattern) => (pattern.endsWith('*') ? startingWith(pattern.slice(0, -1), known) : [pattern]));
  const unknown = asked.filter((row) => !known.includes(row));
  if (unknown.length > 0) throw new Error(`There is no row ${unknown.join(', ')}; there are ${known.join(', ')}.`);
  return {
    rows: asked,
    rounds: positiveInteger('rounds', values.rounds),
    records: positiveInteger('records', values.records),
    json: values.json ?? null,
    markdown: values.markdown ?? null,
    oursAlone: values.ours,
    pictures: values.pictures ?? null,
    profile: values.profile ?? null,
    jvmArguments: values['java-opts'].split(' ').filter((argument) => argument !== ''),
  };
}

/** What `start*` stands for; itself, which is no row, when that is nothing. */
function startingWith(start: string, known: readonly string[]): readonly string[] {
  const found = known.filter((row) => row.startsWith(start));
  return found.length > 0 ? found : [`${start}*`];
}

function positiveInteger(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0) throw new Error(`--${name} must be a positive integer, not ${text}.`);
  return value;
}
