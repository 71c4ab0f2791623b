/**
 * Brings Kafka and the schema registry from Maven artifacts into the cache, once per version.
 *
 * A version's folder appears by a rename after its checksums were verified, so a folder that exists is complete, even when a
 * download was cut off or two processes installed at the same time.
 */
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from './cache.js';
import { verifyChecksums } from './checksums.js';
import type { JavaTools } from './java.js';
import { runMaven } from './maven.js';
import type { OnProgress } from './progress.js';
import { kafkaVersion, registryVersion } from './settings.js';

const run = promisify(execFile);

const kafkaPom = join(import.meta.dirname, 'kafka-pom.xml');
const kafkaJarCount = 92;
const registryArchive = `apicurio-registry-app-${registryVersion}-all.tar.gz`;
const registryArchiveMegabytes = 142;

/** The folder of Kafka's jars (server, clients and command-line tools). */
export function installKafka(tools: JavaTools, onProgress: OnProgress): Promise<string> {
  return installOnce(`kafka-${kafkaVersion}`, async (folder) => {
    onProgress({ kind: 'step', text: `Installing Kafka ${kafkaVersion} into ${cacheDirectory}` });
    let copied = 0;
    const report = (): void => onProgress({ kind: 'download', name: 'Kafka', done: copied, total: kafkaJarCount, unit: 'files' });
    report();
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${folder}`];
    await runMaven(tools.maven, ['-f', kafkaPom, `-Dkafka.version=${kafkaVersion}`, ...goal], (line) => {
      // A jar that Maven has not got yet is first downloaded, then copied; the copying of all comes last and takes no time.
      if (!/Downloaded from .*\.jar /.test(line) || copied >= kafkaJarCount - 1) return;
      copied++;
      report();
    });
    copied = kafkaJarCount;
    report();
    await verifyChecksums(folder, await readdir(folder));
  });
}

/** The folder of the unpacked schema registry. */
export function installRegistry(tools: JavaTools, onProgress: OnProgress): Promise<string> {
  return installOnce(`apicurio-registry-${registryVersion}`, async (folder) => {
    onProgress({ kind: 'step', text: `Installing the Apicurio schema registry ${registryVersion} into ${cacheDirectory}` });
    const artifact = `io.apicurio:apicurio-registry-app:${registryVersion}:tar.gz:all`;
    const watch = setInterval(() => void reportArchive(onProgress), 250);
    try {
      await runMaven(tools.maven, ['-f', kafkaPom, 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]);
    } finally {
      clearInterval(watch);
    }
    onProgress({ kind: 'download', name: 'Schema registry', done: registryArchiveMegabytes, total: registryArchiveMegabytes, unit: 'MB' });
    await verifyChecksums(folder, [registryArchive]);
    await run('tar', ['-xzf', join(folder, registryArchive), '-C', folder]);
    await rm(join(folder, registryArchive));
  });
}

/** A folder of the cache, filled by `fill` unless it is there already. */
export async function installOnce(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const target = join(cacheDirectory, name);
  if (await exists(target)) return target;
  await mkdir(cacheDirectory, { recursive: true });
  const folder = await mkdtemp(join(cacheDirectory, `${name}-installing-`));
  try {
    await fill(folder);
    await rename(folder, target);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    // Somebody else finished the same installation first.
    if (!(await exists(target))) throw error;
  }
  return target;
}

/** Reports how much of the archive Maven has written into its repository; silent when that lies elsewhere. */
async function reportArchive(onProgress: OnProgress): Promise<void> {
  const folder = join(homedir(), '.m2/repository/io/apicurio/apicurio-registry-app', registryVersion);
  try {
    const sizes = await Promise.all((await readdir(folder)).map(async (file) => (await stat(join(folder, file))).size));
    const done = Math.min(Math.round(Math.max(...sizes) / 1e6), registryArchiveMegabytes - 1);
    onProgress({ kind: 'download', name: 'Schema registry', done, total: registryArchiveMegabytes, unit: 'MB' });
  } catch {
    // Nothing there yet, or a file was renamed between the two calls.
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
