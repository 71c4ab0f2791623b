/** Sends each record to the child of the first predicate that holds, else to the default child, else nowhere (KStreamBranch). */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { Downstream, OperatorContext, OperatorSupplier } from './operator.js';
import type { Awaitable, Predicate } from './user-functions.js';

export interface BranchOptions<K, V> {
  /** In the order in which the predicates are asked. */
  readonly branches: readonly { readonly predicate: Predicate<K, V>; readonly child: string }[];
  /** null: records that fit no predicate end here. */
  readonly defaultChild: string | null;
}

export function branchOperator<K, V>(options: BranchOptions<K, V>): OperatorSupplier {
  return () => new BranchOperator(options);
}

class BranchOperator<K, V> extends NodeOperator<K, V> {
  private readonly predicates: readonly Predicate<K, V>[];
  private children: readonly Downstream[] = [];
  private defaultChild: Downstream | null = null;

  constructor(private readonly options: BranchOptions<K, V>) {
    super();
    this.predicates = options.branches.map((branch) => branch.predicate);
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.children = this.options.branches.map((branch) => context.child(branch.child));
    this.defaultChild = this.options.defaultChild === null ? null : context.child(this.options.defaultChild);
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    this.meta.enter(timestamp);
    return this.ask(0, key, value, timestamp);
  }

  private ask(from: number, key: K, value: V, timestamp: number): MaybeAsync {
    for (let index = from; index < this.predicates.length; index++) {
      const verdict: Awaitable<unknown> = this.predicates[index]?.(value, key, this.meta);
      if (isPromiseLike(verdict)) return this.askLater(verdict, index, key, value, timestamp);
      if (verdict) return this.children[index]?.process(key, value, timestamp);
    }
    return this.defaultChild?.process(key, value, timestamp);
  }

  private async askLater(verdict: PromiseLike<unknown>, index: number, key: K, value: V, timestamp: number): Promise<void> {
    if (await verdict) await this.children[index]?.process(key, value, timestamp);
    else await this.ask(index + 1, key, value, timestamp);
  }
}
