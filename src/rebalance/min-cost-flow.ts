/**
 * Minimum-cost maximum flow on a small graph with integer capacities and costs (successive shortest paths, several paths a round).
 *
 * Costs may be negative as long as the graph has no negative cycle. Edges are tried in the order they were added, so the answer is deterministic.
 */
export class MinCostFlow {
  private readonly target: number[] = [];
  private readonly capacity: number[] = [];
  private readonly cost: number[] = [];
  private readonly edgesOf: number[][];
  private readonly distance: number[];
  private readonly nextEdge: number[];
  private readonly onPath: boolean[];

  constructor(nodes: number) {
    this.edgesOf = Array.from({ length: nodes }, () => []);
    this.distance = new Array<number>(nodes).fill(0);
    this.nextEdge = new Array<number>(nodes).fill(0);
    this.onPath = new Array<boolean>(nodes).fill(false);
  }

  /** Returns the edge's number, for `flowOn`. */
  addEdge(from: number, to: number, capacity: number, cost: number): number {
    const edge = this.target.length;
    this.target.push(to, from);
    this.capacity.push(capacity, 0);
    this.cost.push(cost, -cost);
    this.edgesOf[from]?.push(edge);
    this.edgesOf[to]?.push(edge + 1);
    return edge;
  }

  flowOn(edge: number): number {
    return at(this.capacity, edge ^ 1);
  }

  /** Sends as much as fits, as cheaply as it can, and returns how much it was. */
  run(source: number, sink: number): number {
    let total = 0;
    while (this.measure(source, sink)) {
      this.nextEdge.fill(0);
      for (let sent = this.push(source, sink, Infinity); sent > 0; sent = this.push(source, sink, Infinity)) total += sent;
    }
    return total;
  }

  /** Distances from the source over edges with room left (label correcting, since costs may be negative). */
  private measure(source: number, sink: number): boolean {
    const { distance, target, capacity, cost } = this;
    distance.fill(Infinity);
    distance[source] = 0;
    const queued = new Array<boolean>(distance.length).fill(false);
    const queue = [source];
    for (let head = 0; head < queue.length; head++) {
      const node = at(queue, head);
      queued[node] = false;
      for (const edge of at(this.edgesOf, node)) {
        const next = at(target, edge);
        const through = at(distance, node) + at(cost, edge);
        if (at(capacity, edge) === 0 || through >= at(distance, next)) continue;
        distance[next] = through;
        if (queued[next] === true) continue;
        queued[next] = true;
        queue.push(next);
      }
    }
    return at(distance, sink) < Infinity;
  }

  /** Depth first along shortest paths only; `onPath` keeps it out of cycles of cost zero. */
  private push(node: number, sink: number, limit: number): number {
    if (node === sink) return limit;
    this.onPath[node] = true;
    const edges = at(this.edgesOf, node);
    let sent = 0;
    for (let index = at(this.nextEdge, node); index < edges.length; index++) {
      this.nextEdge[node] = index;
      const edge = at(edges, index);
      const next = at(this.target, edge);
      const room = at(this.capacity, edge);
      if (room === 0 || this.onPath[next] === true || at(this.distance, next) !== at(this.distance, node) + at(this.cost, edge)) continue;
      sent = this.push(next, sink, Math.min(limit, room));
      if (sent === 0) continue;
      this.capacity[edge] = room - sent;
      this.capacity[edge ^ 1] = at(this.capacity, edge ^ 1) + sent;
      break;
    }
    if (sent === 0) this.nextEdge[node] = edges.length;
    this.onPath[node] = false;
    return sent;
  }
}

function at<T>(items: readonly T[], index: number): T {
  return items[index] as T;
}
