/** What V8 writes with `--cpu-prof`, and how its samples add up. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Ids of nodes, one a sample. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

export interface Frame {
  readonly name: string;
  /** Path or URL; empty for what is no script. */
  readonly url: string;
  readonly line: number;
}

/** Calls `visit` for each sample with its stack, the running function first, and its time in milliseconds. Samples of an idle process are left out. */
export function forEachSample(profile: CpuProfile, visit: (stack: readonly Frame[], ms: number) => void): void {
  const frames = new Map<number, Frame>();
  const parents = new Map<number, number>();
  for (const { id, callFrame, children = [] } of profile.nodes) {
    frames.set(id, { name: callFrame.functionName || '(anonymous)', url: callFrame.url, line: callFrame.lineNumber + 1 });
    for (const child of children) parents.set(child, id);
  }
  profile.samples.forEach((sample, index) => {
    const stack: Frame[] = [];
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      const frame = frames.get(id);
      if (frame !== undefined) stack.push(frame);
    }
    if (stack[0]?.name !== '(idle)') visit(stack, (profile.timeDeltas[index] ?? 0) / 1000);
  });
}
