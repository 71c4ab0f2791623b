/**
 * Names for the wall-clock timers of a task that are the same in its next life: by node, and by place among the timers that the node has at a time. Callbacks can't be told
 * apart, but nodes set the same timers in the same order.
 */
export class TimerNames {
  private readonly taken = new Map<string, boolean[]>();

  /** The first free name of the node. */
  take(node: string): { readonly name: string; release(): void } {
    const places = this.taken.get(node) ?? [];
    this.taken.set(node, places);
    const free = places.indexOf(false);
    const place = free < 0 ? places.length : free;
    places[place] = true;
    let isReleased = false;
    return {
      name: `${node} timer ${place}`,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        places[place] = false;
      },
    };
  }
}
