/** The stages of a pipeline that are done on streams. */
import type { GlobalKTable } from '../../../src/dsl/global-ktable.js';
import type { KGroupedStream } from '../../../src/dsl/kgrouped-stream.js';
import type { KStream } from '../../../src/dsl/kstream.js';
import type { KTable } from '../../../src/dsl/ktable.js';
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import type { Processor, ProcessorContext } from '../../../src/processors/processor.js';
import type { KeyValueStore } from '../../../src/stores/store.js';
import { stores } from '../../../src/stores/stores.js';
import { joinWindows } from '../../../src/time/join-windows.js';
import { NotBuiltError } from '../../case.js';
import { consumed } from './inputs.js';
import { firstOrNull, keeps, mark, pair, printed, type PipelineStage } from './pipeline-stage.js';
import { cogroupedByWindow, groupedByWindow } from './pipeline-windows.js';

export type TextStream = KStream<string, string>;
export type TextTable = KTable<string, string>;

export interface PipelineInputs {
  /** The stream of topic R. */
  other(): TextStream;
  /** The table of topic T. */
  table(): TextTable;
  /** The global table of topic G. */
  global(): GlobalKTable<string, string>;
}

type Text = string | null;

export function applyToStream(
  builder: StreamsBuilder,
  stream: TextStream,
  stage: PipelineStage,
  inputs: PipelineInputs,
): TextStream | TextTable {
  const named = stage.named();
  switch (stage.action) {
    case 'filter':
      return stream.filter(keeps, named);
    case 'filterNot':
      return stream.filterNot(keeps, named);
    case 'mapValues':
      return stream.mapValues(mark, { ...named, valueSerde: consumed.valueSerde });
    case 'map':
      return stream.map((value, key) => [stage.rekey(value) as string, mark(key)], { ...named, ...consumed });
    case 'flatMapValues':
      return stream.flatMapValues((value: Text) => (value === null ? [] : [value, `${value}*`]), { ...named, ...consumed });
    case 'flatMap':
      return stream.flatMap((value: Text, key) => (value === null ? [] : [[key, value] as const, [value, value] as const]), {
        ...named,
        ...consumed,
      });
    case 'selectKey':
      return stream.selectKey((value) => stage.rekey(value) as string, { ...named, ...consumed });
    case 'peek':
      return stream.peek(() => undefined, named);
    case 'tee':
      stream.to('OUT', consumed);
      return stream;
    case 'merge':
      return stream.merge(inputs.other(), named);
    case 'branch':
      return branch(stream, stage);
    case 'repartition':
      return stream.repartition({ ...consumed, ...named });
    case 'process': {
      const store = `previous${stage.index}`;
      builder.addStateStore(stores.keyValue({ name: store, ...consumed, engine: 'memory' }));
      return stream.process(() => new Remembering(store), { ...named, ...consumed, stores: [store] });
    }
    case 'punctuate':
      return stream.process(() => new Ticking(stage.millis('everyMs')), { ...named, ...consumed });
    case 'join':
      return joinStreams(stream, inputs.other(), stage);
    case 'tableJoin': {
      const grace = stage.definition.graceMs === undefined ? {} : { grace: stage.millis('graceMs') };
      const options = { ...consumed, ...named, ...grace };
      return stage.kind === 'inner' ? stream.join(inputs.table(), pair, options) : stream.leftJoin(inputs.table(), pair, options);
    }
    case 'globalJoin': {
      const options = { keyOf: firstOrNull, ...named, valueSerde: consumed.valueSerde };
      return stage.kind === 'inner' ? stream.join(inputs.global(), pair, options) : stream.leftJoin(inputs.global(), pair, options);
    }
    case 'toTable':
      return stream.toTable({ ...named, ...stage.rows() });
    case 'aggregate':
      return aggregate(stream.groupByKey({ ...consumed, ...stage.named('group') }), stage);
    case 'groupBy':
      return aggregate(
        stream.groupBy((value) => stage.rekey(value) as string, { ...consumed, ...stage.named('group') }),
        stage,
      );
    case 'cogroup':
      return cogroup(stream, inputs.other(), stage);
    default:
      throw new NotBuiltError(`stage of a stream ${stage.action}`);
  }
}

function branch(stream: TextStream, stage: PipelineStage): TextStream {
  const { thirds, odd, rest } = branches(stream, stage);
  const marked = (branch: TextStream, end: string): TextStream =>
    branch.mapValues((value: Text) => `${value}${end}`, { valueSerde: consumed.valueSerde });
  return marked(thirds, 'a').merge(odd).merge(marked(rest, 'c'));
}

function branches(
  stream: TextStream,
  stage: PipelineStage,
): { readonly thirds: TextStream; readonly odd: TextStream; readonly rest: TextStream } {
  const all = stream
    .split(stage.named(''))
    .branch((value: Text) => value !== null && value.length % 3 === 0, { name: 'thirds' })
    .branch(keeps, { name: 'odd' })
    .defaultBranch({ name: 'rest' });
  const [thirds, odd, rest] = Object.values(all) as [TextStream, TextStream, TextStream];
  return { thirds, odd, rest };
}

function joinStreams(left: TextStream, right: TextStream, stage: PipelineStage): TextStream {
  const windows = joinWindows({ before: stage.millis('beforeMs'), after: stage.millis('afterMs'), grace: stage.millis('graceMs') });
  const options = { ...consumed, ...stage.named(), ...(stage.isKept ? { storeName: stage.storeName } : {}), windows };
  switch (stage.kind) {
    case 'inner':
      return left.join(right, pair, options);
    case 'left':
      return left.leftJoin(right, pair, options);
    case 'outer':
      return left.outerJoin(right, pair, options);
    default:
      throw new NotBuiltError(`kind ${stage.kind}`);
  }
}

function aggregate(grouped: KGroupedStream<string, string>, stage: PipelineStage): TextStream | TextTable {
  const { window } = stage;
  if (window !== null) return groupedByWindow(grouped, window, stage);
  switch (stage.aggregate) {
    case 'count':
      return printed(grouped.count({ ...stage.named(), ...stage.counts() }));
    case 'reduce':
      return grouped.reduce((all, value) => `${all}+${value}`, { ...stage.named(), ...stage.rows() });
    case 'aggregate':
      return grouped.aggregate(
        () => '0',
        (all: string, value) => `${all}+${value}`,
        { ...stage.named(), ...stage.rows() },
      );
    default:
      throw new NotBuiltError(`aggregate ${stage.aggregate}`);
  }
}

function cogroup(stream: TextStream, other: TextStream, stage: PipelineStage): TextStream | TextTable {
  const one = stream.groupByKey({ ...consumed, ...stage.named('one') });
  const two = other.groupByKey({ ...consumed, ...stage.named('two') });
  const both = one.cogroup((all: string, value) => `${all}+${value}`).cogroup(two, (all, value) => `${all}-${value}`);
  const { window } = stage;
  return window === null ? both.aggregate(() => '0', { ...stage.named(), ...stage.rows() }) : cogroupedByWindow(both, window, stage);
}

/** Adds to each value the one before it of the same key. */
class Remembering implements Processor<string, string, string, string> {
  private context!: ProcessorContext<string, string>;
  private store!: KeyValueStore<string, string>;

  constructor(private readonly name: string) {}

  init(context: ProcessorContext<string, string>): void {
    this.context = context;
    this.store = context.store(this.name);
  }

  process({ key, value }: { readonly key: string; readonly value: string }): ReturnType<Processor<string, string>['process']> {
    if ((key as Text) === null) return this.context.forward({ key, value });
    const before = this.store.get(key) ?? null;
    if ((value as Text) === null) this.store.delete(key);
    else this.store.put(key, value);
    return this.context.forward({ key, value: `${value}<${before}` });
  }
}

/** Passes records on, and a tick whenever stream time has moved on by so much. */
class Ticking implements Processor<string, string, string, string> {
  private context!: ProcessorContext<string, string>;

  constructor(private readonly every: number) {}

  init(context: ProcessorContext<string, string>): void {
    this.context = context;
    context.schedule({ interval: this.every, time: 'stream' }, (time) =>
      context.forward({ key: 'tick', value: String(time), timestamp: time }),
    );
  }

  process({ key, value }: { readonly key: string; readonly value: string }): ReturnType<Processor<string, string>['process']> {
    return this.context.forward({ key, value });
  }
}
