/** The Kafka Streams side: compiled by Maven into the cache, once per state of its sources, and run from there. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installOnce } from '../../scripts/stack/install.js';
import type { JavaTools } from '../../scripts/stack/java.js';
import { leaveNothing } from '../../scripts/stack/java.js';
import { runMaven } from '../../scripts/stack/maven.js';
import type { OnProgress } from '../../scripts/stack/progress.js';
import { kafkaVersion } from '../../scripts/stack/settings.js';
import type { ProgramArguments } from './arguments.js';
import { toCommandLine } from './arguments.js';
import type { Command } from './side-process.js';

const javaFolder = join(import.meta.dirname, '../java');

export interface JavaSide {
  command(values: ProgramArguments): Command;
}

/** @param scratch a folder that the harness removes */
export async function buildJavaSide(
  tools: JavaTools,
  scratch: string,
  jvmArguments: readonly string[],
  onProgress: OnProgress,
): Promise<JavaSide> {
  const folder = await installOnce(`bench-java-${kafkaVersion}-${await fingerprint()}`, async (target) => {
    onProgress({ kind: 'step', text: `Building the Kafka Streams ${kafkaVersion} side` });
    const copy = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${join(target, 'lib')}`];
    await runMaven(tools.maven, [
      '-f',
      join(javaFolder, 'pom.xml'),
      `-Dkafka.version=${kafkaVersion}`,
      `-Doutput=${target}`,
      'compiler:compile',
      ...copy,
    ]);
  });
  const temporary = join(scratch, 'java-tmp');
  await mkdir(temporary, { recursive: true });
  const classPath = [join(folder, 'classes'), join(folder, 'lib/*')].join(':');
  const fixed = [
    '-cp',
    classPath,
    ...leaveNothing(temporary),
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
    ...jvmArguments,
    'millrace.bench.BenchApp',
  ];
  return { command: (values) => ({ file: tools.java, args: [...fixed, ...toCommandLine(values)], cwd: scratch }) };
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const files = (await readdir(javaFolder, { recursive: true })).filter((file) => /\.(java|xml)$/.test(file)).sort();
  for (const file of files) hash.update(file).update(await readFile(join(javaFolder, file)));
  return hash.digest('hex').slice(0, 12);
}
