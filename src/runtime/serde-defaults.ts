import { MillraceError } from '../errors.js';
import { compileSerde } from '../serdes/compile-serde.js';
import { defaultsOf } from '../serdes/late-serde.js';
import type { CompiledSerde, Serde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';
import type { SinkNode, SourceNode, Topology } from '../topology/nodes.js';

/** Compiled serdes, one per serde object, with the app's defaults for nodes and stores that name none. */
export class SerdeDefaults {
  private readonly compiledSerdes = new Map<Serde<unknown>, CompiledSerde<unknown>>();

  constructor(
    private readonly keySerde: Serde<unknown> | null,
    private readonly valueSerde: Serde<unknown> | null,
  ) {}

  /** @throws MILL_CONFIG_INVALID when neither the node nor the app names a serde */
  compiled(serde: Serde<unknown> | null, owner: string, part: 'key' | 'value'): CompiledSerde<unknown> {
    const [lacking = null] = this.lacking(serde, part);
    const chosen = serde ?? (part === 'key' ? this.keySerde : this.valueSerde);
    if (lacking !== null || chosen === null) {
      const [option, fallbackOption] = lacking === 'key' ? ['keySerde', 'defaultKeySerde'] : ['valueSerde', 'defaultValueSerde'];
      throw new MillraceError(
        'MILL_CONFIG_INVALID',
        `${owner} has no ${lacking} serde: give a ${option} to it or where its ${lacking}s are made, or set ${fallbackOption}`,
        { details: { owner, part: lacking } },
      );
    }
    let compiled = this.compiledSerdes.get(chosen);
    if (compiled === undefined) {
      compiled = compileSerde(this.completed(chosen));
      this.compiledSerdes.set(chosen, compiled);
    }
    return compiled;
  }

  /** Defaults that a serde needs, or stands for when it is null, and the app does not have. */
  private lacking(serde: Serde<unknown> | null, part: 'key' | 'value'): ('key' | 'value')[] {
    const needed = serde === null ? [part] : defaultsOf(serde);
    return needed.filter((one) => (one === 'key' ? this.keySerde : this.valueSerde) === null);
  }

  private completed(serde: Serde<unknown>): Serde<unknown> {
    return serde.withDefaults?.({ key: this.keySerde, value: this.valueSerde }) ?? serde;
  }

  ofStore(spec: StoreSpec): { readonly key: CompiledSerde<unknown>; readonly value: CompiledSerde<unknown> } {
    return {
      key: this.compiled(spec.keySerde, `store ${spec.name}`, 'key'),
      value: this.compiled(spec.valueSerde, `store ${spec.name}`, 'value'),
    };
  }

  /** Names every node and store that would be left without a serde, so that all can be reported before anything starts. */
  missing(topology: Topology): string[] {
    const faults: string[] = [];
    const check = (owner: string, key: Serde<unknown> | null, value: Serde<unknown> | null): void => {
      const lacking = new Set([...this.lacking(key, 'key'), ...this.lacking(value, 'value')]);
      if (lacking.has('key')) faults.push(`${owner} has no key serde and there is no defaultKeySerde`);
      if (lacking.has('value')) faults.push(`${owner} has no value serde and there is no defaultValueSerde`);
    };
    for (const node of topology.nodes.values()) if (node.kind !== 'processor') check(serdeOwner(node), node.keySerde, node.valueSerde);
    for (const { spec } of [...topology.stores.values(), ...topology.globalStores.values()])
      check(`store ${spec.name}`, spec.keySerde, spec.valueSerde);
    for (const { source } of topology.globalStores.values()) check(`source ${source.name}`, source.keySerde, source.valueSerde);
    return faults;
  }

  /** Lets serdes load what they need (schemas) for each topic they are used with. */
  async prepare(topology: Topology, fullName: (name: string, internal: boolean) => string): Promise<void> {
    const uses: Promise<void>[] = [];
    const use = (serde: Serde<unknown> | null, fallback: Serde<unknown> | null, topic: string, part: 'key' | 'value'): void => {
      const named = serde ?? fallback;
      // What lacks a default is told where it is used.
      const chosen = named === null || this.lacking(named, part).length > 0 ? null : this.completed(named);
      if (chosen?.prepare !== undefined) uses.push(chosen.prepare({ topic, part }));
    };
    const useBoth = (
      node: { readonly keySerde: Serde<unknown> | null; readonly valueSerde: Serde<unknown> | null },
      topic: string,
    ): void => {
      use(node.keySerde, this.keySerde, topic, 'key');
      use(node.valueSerde, this.valueSerde, topic, 'value');
    };
    for (const node of topology.nodes.values()) {
      if (node.kind === 'source') for (const topic of node.topics) useBoth(node, fullName(topic.name, topic.internal));
      if (node.kind === 'sink' && typeof node.topic !== 'function') useBoth(node, fullName(node.topic.name, node.topic.internal));
    }
    for (const { spec } of topology.stores.values()) useBoth(spec, fullName(`${spec.name}-changelog`, true));
    for (const { spec, topic, source } of topology.globalStores.values()) {
      useBoth(source, topic);
      useBoth(spec, topic);
    }
    await Promise.all(uses);
  }
}

/** A source or sink as a user knows it: by its topic, since its name is often a generated one. */
export function serdeOwner(node: SourceNode | SinkNode): string {
  if (node.kind === 'source') {
    const read = node.pattern === null ? node.topics.map(({ name }) => name).join(', ') : String(node.pattern);
    return `source ${node.name}, which reads ${read},`;
  }
  const written = typeof node.topic === 'function' ? 'the topics that a function names' : node.topic.name;
  return `sink ${node.name}, which writes ${written},`;
}
