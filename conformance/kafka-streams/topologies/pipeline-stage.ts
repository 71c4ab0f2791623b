/** One stage of a pipeline: what it does, and the names and stores that it gives. The functions are those of `Pipeline.java`. */
import type { KTable } from '../../../src/dsl/ktable.js';
import { isObject, NotBuiltError, number, object, text, type JsonObject } from '../../case.js';
import { consumed } from './inputs.js';

type Text = string | null;
type KeptRows = { readonly storeName: string; readonly historyRetention?: number } & typeof consumed;

export class PipelineStage {
  constructor(
    readonly definition: JsonObject,
    readonly index: number,
    private readonly isNamed: boolean,
  ) {}

  get action(): string {
    return text(this.definition, 'do');
  }

  get kind(): string {
    return text(this.definition, 'kind');
  }

  get aggregate(): string {
    return text(this.definition, 'aggregate');
  }

  /** What the transformer of the stage looks at. */
  get sees(): string {
    return text(this.definition, 'sees');
  }

  /** Name of the store that the transformer of the stage may use. */
  get state(): string {
    return `calls${this.index}`;
  }

  get isKept(): boolean {
    return this.definition.kept === true || this.versions.historyRetention !== undefined;
  }

  /** The option `historyRetention` of a table that keeps versions, none otherwise. */
  private get versions(): { readonly historyRetention?: number } {
    const { kept } = this.definition;
    return isObject(kept) ? { historyRetention: number(kept, 'versionedMs') } : {};
  }

  get storeName(): string {
    return `store${this.index}`;
  }

  millis(field: string): number {
    return number(this.definition, field, 0);
  }

  get window(): JsonObject | null {
    return this.definition.window === undefined ? null : object(this.definition, 'window');
  }

  named(suffix?: string): { readonly name?: string } {
    if (!this.isNamed) return {};
    return { name: suffix === undefined ? `s${this.index}` : `s${this.index}-${suffix}` };
  }

  /** The option `materialized` of a table that is kept under a name, none otherwise. */
  kept(): { readonly materialized?: KeptRows } {
    return this.isKept ? { materialized: { storeName: this.storeName, ...this.versions, ...consumed } } : {};
  }

  /** The same for a table that has a store in any case. */
  rows(): { readonly materialized: Partial<KeptRows> & typeof consumed } {
    return { materialized: { ...(this.isKept ? { storeName: this.storeName, ...this.versions } : {}), ...consumed } };
  }

  counts(): { readonly materialized: Pick<Partial<KeptRows>, 'storeName' | 'historyRetention'> } {
    return { materialized: this.isKept ? { storeName: this.storeName, ...this.versions } : {} };
  }

  rekey(value: Text): Text {
    const by = text(this.definition, 'by');
    if (by === 'value') return value;
    if (by === 'first') return firstOrNull(value) ?? '-';
    if (by === 'length') return value === null ? 'none' : String(value.length);
    throw new NotBuiltError(`by ${by}`);
  }
}

export function pair(left: Text, right: Text): string {
  return `(${left},${right})`;
}

export function keeps(value: Text): boolean {
  return value === null || value.length % 2 === 1;
}

export function mark(value: Text): string {
  return (value === null ? null : `${value}'`) as string;
}

export function firstOrNull(value: Text): Text {
  return value === null || value === '' ? null : value.slice(0, 1);
}

export function printed(counts: KTable<string, number>): KTable<string, string> {
  return counts.mapValues(String, { valueSerde: consumed.valueSerde });
}
