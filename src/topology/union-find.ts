/** Disjoint sets of strings, joined two by two. Decides which nodes share a sub-topology and which topics a co-partition group. */
export class UnionFind {
  readonly #parents = new Map<string, string>();

  add(id: string): void {
    if (!this.#parents.has(id)) this.#parents.set(id, id);
  }

  /** Joins the sets of `a` and `b`; unknown ids are added. */
  unite(a: string, b: string): void {
    const rootA = this.root(a);
    const rootB = this.root(b);
    if (rootA !== rootB) this.#parents.set(rootB, rootA);
  }

  /** The same string for all members of a set. */
  root(id: string): string {
    this.add(id);
    let root = id;
    for (let next = this.#parents.get(root); next !== undefined && next !== root; next = this.#parents.get(root)) root = next;
    for (let at = id; at !== root;) {
      const next = this.#parents.get(at) ?? root;
      this.#parents.set(at, root);
      at = next;
    }
    return root;
  }
}
