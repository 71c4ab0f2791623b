/** An operator's timers in its state store, one row each: written with the state, and read back before the operator's first record. */
import type { KeyedStateStore } from '../state/store-keyed-state-backend.js';
import { statePrefix, type StateAddress } from '../state/state-address.js';
import type { Timer } from './timer-queue.js';
import type { TimerKind, TimerLog, TimerSnapshot } from './timer-service.js';

/** No state can have these names. */
const stateOf: Readonly<Record<TimerKind, string>> = { event: '!e', processing: '!p' };
const empty = Buffer.alloc(0);

export class StoredTimers implements TimerLog {
  constructor(
    private readonly store: KeyedStateStore,
    private readonly timestamp: () => number,
  ) {}

  added(kind: TimerKind, timer: Timer): void {
    this.store.put(addressOf(kind, timer), { state: stateOf[kind], bytes: empty }, this.timestamp());
  }

  removed(kind: TimerKind, timer: Timer): void {
    this.store.put(addressOf(kind, timer), null, this.timestamp());
  }

  async load(): Promise<TimerSnapshot> {
    return { event: await this.loadOf('event'), processing: await this.loadOf('processing') };
  }

  private async loadOf(kind: TimerKind): Promise<Timer[]> {
    const timers: Timer[] = [];
    for await (const [{ key, namespace }] of this.store.prefixScan(statePrefix(stateOf[kind]))) {
      const split = namespace.indexOf('|');
      timers.push({ time: Number(namespace.slice(0, split)), key, namespace: namespace.slice(split + 1) });
    }
    return timers;
  }
}

function addressOf(kind: TimerKind, { key, namespace, time }: Timer): StateAddress {
  return { state: stateOf[kind], key, namespace: `${time}|${namespace}` };
}
