/**
 * Time in a simulation: one queue of events, run one after the other, each to the end of all the promises it settles.
 *
 * While a world is installed, the globals for timers, clocks and randomness are its own, so the runtime runs in it unchanged. An event belongs to the process
 * whose event scheduled it; those of a dead process never run, those of a paused one run when it wakes up. So a process can die or stop between any two
 * of its awaits that reach outside. The same seed gives the same run.
 */
import type { Random } from '../../src/testing/in-memory-kafka/random.js';
import type { SimulationClock } from '../../src/testing/in-memory-kafka/simulation-clock.js';

/** One operating-system process. */
export class SimulatedProcess {
  isDead = false;
  pausedUntil = 0;
  /** How far its wall clock is from the right time. */
  clockOffsetMs = 0;

  constructor(readonly name: string) {}
}

interface WorldEvent {
  at: number;
  readonly order: number;
  readonly run: () => void;
  readonly owner: SimulatedProcess;
  isCancelled: boolean;
}

/** Virtual milliseconds that a look at the monotonic clock takes: work takes time, and slices end. */
const glanceMs = 0.003;
const epochMs = 1_700_000_000_000;
/** Steps between two turns of the real event loop. */
const stepsPerTurn = 5000;

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  clearImmediate: globalThis.clearImmediate,
  dateNow: Date.now.bind(Date),
  random: Math.random.bind(Math),
  performanceNow: performance.now.bind(performance),
};

export class VirtualWorld {
  steps = 0;
  private time = 0;
  private order = 0;
  private readonly heap: WorldEvent[] = [];
  /** What belongs to no process: brokers, the network, the test itself. */
  readonly outside = new SimulatedProcess('outside');
  private current = this.outside;

  constructor(private readonly random: Random) {}

  /** Milliseconds since the world began. */
  get now(): number {
    return this.time;
  }

  /** Milliseconds since 1970, by a clock that is right. */
  get wallClock(): number {
    return epochMs + this.time;
  }

  clockOf(owner: SimulatedProcess): SimulationClock {
    return {
      now: () => epochMs + this.time,
      setTimer: (run, delayMs) => {
        const event = this.schedule(run, delayMs, owner);
        return () => {
          event.isCancelled = true;
        };
      },
    };
  }

  /** Runs `start` as code of that process. */
  as<T>(owner: SimulatedProcess, start: () => T): T {
    const before = this.current;
    this.current = owner;
    try {
      return start();
    } finally {
      this.current = before;
    }
  }

  /** Runs events until `isDone`, at most `forMs` from now. True when done. */
  run(forMs: number, isDone: () => boolean = () => false): Promise<boolean> {
    const end = this.time + forMs;
    return new Promise((resolve, reject) => {
      const next = (): void => {
        this.current = this.outside;
        try {
          if (isDone()) {
            resolve(true);
            return;
          }
          const event = this.pop();
          if (event === undefined || event.at > end) {
            if (event !== undefined) this.push(event);
            this.time = end;
            resolve(false);
            return;
          }
          this.time = Math.max(this.time, event.at);
          this.current = event.owner;
          event.run();
        } catch (error) {
          this.current = this.outside;
          reject(error instanceof Error ? error : new Error(String(error)));
          return;
        }
        if (++this.steps % stepsPerTurn === 0) onceSettled(() => real.setImmediate(next));
        else onceSettled(next);
      };
      onceSettled(next);
    });
  }

  /** The globals stay the same functions in every world: what holds one of them, as the engine's caches do, holds no world. */
  install(): void {
    put(this);
    Object.assign(globalThis, virtualTimers);
    Date.now = virtualDateNow;
    Math.random = virtualRandom;
    performance.now = virtualPerformanceNow;
  }

  uninstall(): void {
    put(null);
    const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = real;
    Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate });
    Date.now = real.dateNow;
    Math.random = real.random;
    performance.now = real.performanceNow;
    this.heap.length = 0;
  }

  /** Date.now() of the process whose event runs. */
  dateNow(): number {
    return Math.floor(epochMs + this.time + this.current.clockOffsetMs);
  }

  /** Math.random(). */
  drawRandom(): number {
    return this.random.next();
  }

  /** performance.now(). */
  performanceNow(): number {
    return (this.time += glanceMs);
  }

  timeout(run: () => void, delayMs: number): VirtualTimer {
    return new VirtualTimer(this.schedule(run, Math.max(1, delayMs || 0), this.current));
  }

  interval(run: () => void, everyMs: number): VirtualTimer {
    const owner = this.current;
    const handle = new VirtualTimer(null);
    const again = (): void => {
      handle.event = this.schedule(
        () => {
          again();
          run();
        },
        Math.max(1, everyMs),
        owner,
      );
    };
    again();
    return handle;
  }

  immediate(run: () => void): VirtualTimer {
    return new VirtualTimer(this.schedule(run, 0, this.current));
  }

  private schedule(run: () => void, delayMs: number, owner: SimulatedProcess): WorldEvent {
    const event = { at: this.time + Math.max(0, delayMs), order: this.order++, run, owner, isCancelled: false };
    this.push(event);
    return event;
  }

  private pop(): WorldEvent | undefined {
    for (;;) {
      const event = this.take();
      if (event === undefined) return undefined;
      if (event.isCancelled || event.owner.isDead) continue;
      if (event.owner.pausedUntil <= event.at) return event;
      event.at = event.owner.pausedUntil;
      this.push(event);
    }
  }

  private push(event: WorldEvent): void {
    const { heap } = this;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  private take(): WorldEvent | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

class VirtualTimer {
  constructor(public event: WorldEvent | null) {}

  cancel(): void {
    if (this.event !== null) this.event.isCancelled = true;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

/** Whose the globals are. */
let installed: VirtualWorld | null = null;

function put(world: VirtualWorld | null): void {
  installed = world;
}

type Run = (...args: unknown[]) => void;

// Code that took a global with it may outlive its world: then it has the real one.
const virtualTimers = {
  setTimeout: (run: Run, delayMs = 0, ...args: unknown[]): unknown =>
    installed === null ? real.setTimeout(run, delayMs, ...args) : installed.timeout(bound(run, args), delayMs),
  setInterval: (run: Run, everyMs = 0, ...args: unknown[]): unknown =>
    installed === null ? real.setInterval(run, everyMs, ...args) : installed.interval(bound(run, args), everyMs),
  setImmediate: (run: Run, ...args: unknown[]): unknown =>
    installed === null ? real.setImmediate(run, ...args) : installed.immediate(bound(run, args)),
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
};

function bound(run: Run, args: readonly unknown[]): () => void {
  return args.length === 0 ? run : () => run(...args);
}

function clear(handle: unknown): void {
  if (handle instanceof VirtualTimer) handle.cancel();
  else real.clearTimeout(handle as NodeJS.Timeout);
}

function virtualDateNow(): number {
  return installed === null ? real.dateNow() : installed.dateNow();
}

function virtualRandom(): number {
  return installed === null ? real.random() : installed.drawRandom();
}

function virtualPerformanceNow(): number {
  return installed === null ? real.performanceNow() : installed.performanceNow();
}

function isBefore(a: WorldEvent, b: WorldEvent): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

const resolved = Promise.resolve();

/** Calls back when no promise has a reaction left to run: ticks run only after the microtasks. Without a promise a step, of which there are millions. */
function onceSettled(run: () => void): void {
  void resolved.then(() => process.nextTick(run));
}
