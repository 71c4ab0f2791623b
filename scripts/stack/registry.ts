import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from './deadline.js';
import { leaveNothing } from './java.js';
import type { Keeper } from './keeper.js';
import { freePorts } from './ports.js';
import { Service } from './service.js';
import { registryApiPath, registryJvmArguments, registryVersion } from './settings.js';

export interface RegistryOptions {
  readonly java: string;
  /** The unpacked registry. */
  readonly installation: string;
  /** Where its log goes; the schemas themselves are kept in memory. */
  readonly folder: string;
  readonly keeper: Keeper;
}

export interface Registry {
  /** The base URL of the Confluent-compatible API. */
  readonly url: string;
  readonly service: Service;
}

/** Starts the schema registry and resolves when it answers. */
export async function startRegistry({ java, installation, folder, keeper }: RegistryOptions): Promise<Registry> {
  const [port = 0] = await freePorts(1);
  const jar = join(installation, `apicurio-registry-app-${registryVersion}-runner.jar`);
  const temporary = join(folder, 'registry-tmp');
  await mkdir(temporary, { recursive: true });
  const service = await Service.start(
    {
      name: 'Schema registry',
      command: java,
      args: [
        ...registryJvmArguments,
        ...leaveNothing(temporary),
        '-Dquarkus.http.host=127.0.0.1',
        `-Dquarkus.http.port=${port}`,
        '-jar',
        jar,
      ],
      logFile: join(folder, 'registry.log'),
    },
    keeper,
  );
  const url = `http://127.0.0.1:${port}${registryApiPath}`;
  try {
    await until(
      'The schema registry did not get ready',
      90_000,
      async () => (await fetch(`${url}/subjects`)).ok,
      () => service.assertRunning(),
    );
    return { url, service };
  } catch (error) {
    await service.stop('SIGKILL');
    throw error;
  }
}
