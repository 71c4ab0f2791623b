import type { Predicate } from '../processors/user-functions.js';
import type { KStream } from './kstream.js';

/** For `branch` and `defaultBranch`. */
export interface BranchOptions<N extends string> {
  /** Key of the branch in the result, and the end of its node's name. Default: its number, from 1; "0" for the default branch. */
  readonly name: N;
}

/** The branches by name. */
export type Branches<K, V, N extends string> = { readonly [name in N]: KStream<K, V> };

/**
 * A stream being split: each record goes to the first branch whose predicate holds.
 *
 * @example
 * const { paid, open } = orders
 *   .split({ name: 'orders-' })
 *   .branch((order) => order.paid, { name: 'paid' })
 *   .defaultBranch({ name: 'open' });
 */
export interface BranchedKStream<K, V, N extends string = never> {
  /**
   * Adds a branch, asked after those before it.
   *
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME; MILL_TOPOLOGY_INVALID when the split was ended or the name is not allowed
   * @example
   * orders.split().branch((order) => order.paid, { name: 'paid' });
   */
  branch<B extends string = `${number}`>(predicate: Predicate<K, V>, options?: BranchOptions<B>): BranchedKStream<K, V, N | B>;

  /**
   * Ends the split: what fits no branch goes to one more.
   *
   * @example
   * const { paid, open } = orders.split().branch((order) => order.paid, { name: 'paid' }).defaultBranch({ name: 'open' });
   */
  defaultBranch<B extends string = '0'>(options?: BranchOptions<B>): Branches<K, V, N | B>;

  /**
   * Ends the split: what fits no branch goes nowhere.
   *
   * @example
   * const { paid } = orders.split().branch((order) => order.paid, { name: 'paid' }).noDefaultBranch();
   */
  noDefaultBranch(): Branches<K, V, N>;
}
