import { checkOptions } from '../errors/checked-options.js';
import { shapes } from './option-shapes.js';
import { MillraceError } from '../errors.js';
import { branchOperator } from '../processors/branch.js';
import { passThroughOperator } from '../processors/pass-through.js';
import type { Predicate } from '../processors/user-functions.js';
import { checkResourceName } from '../topology/resource-name.js';
import type { Branches, BranchedKStream, BranchOptions } from './branched-kstream.js';
import { requireFunction } from './checked-arguments.js';
import { checkedName } from './checked-name.js';
import type { DslContext, StreamState } from './dsl-context.js';
import type { GraphNode } from './graph/graph-node.js';
import { operatorNode } from './graph/operator-node.js';
import type { KStream } from './kstream.js';
import type { NamedOptions } from './options.js';
import { prefix } from './prefixes.js';

export class BranchedKStreamImpl<K, V> implements BranchedKStream<K, V, string> {
  readonly #context: DslContext;
  readonly #source: StreamState<K, V>;
  readonly #splitterName: string;
  readonly #splitter: GraphNode;
  readonly #branches: { readonly predicate: Predicate<K, V>; readonly child: string }[] = [];
  readonly #results = new Map<string, KStream<K, V>>();
  #defaultChild: string | null = null;
  #ended = false;

  constructor(context: DslContext, source: StreamState<K, V>, options: NamedOptions) {
    this.#context = context;
    this.#source = source;
    this.#splitterName = context.graph.nameOr(checkedName(options), prefix.branch);
    // Tasks are made after the last branch was added, so the supplier reads the branches when it is called.
    const supplier = () => branchOperator({ branches: this.#branches, defaultChild: this.#defaultChild })();
    this.#splitter = operatorNode(this.#splitterName, supplier);
    context.graph.add(this.#splitter, [source.node]);
  }

  branch(predicate: Predicate<K, V>, options?: BranchOptions<string>): this {
    requireFunction('branch: the predicate', predicate);
    checkOptions('branch', options, shapes.named);
    const name = options?.name ?? String(this.#branches.length + 1);
    this.#branches.push({ predicate, child: this.#add(name) });
    return this;
  }

  defaultBranch(options?: BranchOptions<string>): Branches<K, V, string> {
    checkOptions('defaultBranch', options, shapes.named);
    this.#defaultChild = this.#add(options?.name ?? '0');
    return this.noDefaultBranch();
  }

  noDefaultBranch(): Branches<K, V, string> {
    this.#ended = true;
    return Object.freeze(Object.fromEntries(this.#results));
  }

  #add(name: string): string {
    const child = checkResourceName(`${this.#splitterName}${name}`, 'branch');
    if (this.#ended)
      throw new MillraceError('MILL_TOPOLOGY_INVALID', `Branch ${child} comes after the split ${this.#splitterName} was ended.`);
    if (this.#results.has(name))
      throw new MillraceError('MILL_TOPOLOGY_DUPLICATE_NAME', `The split ${this.#splitterName} has two branches ${name}.`);
    const { graph } = this.#context;
    graph.newName(child);
    const node = operatorNode(child, passThroughOperator());
    graph.add(node, [this.#splitter]);
    this.#results.set(name, this.#context.stream({ ...this.#source, name: child, node }));
    return child;
  }
}
