import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import { ApiKeys } from '../faults/api-keys.js';
import { epochMoments } from '../faults/epoch-moments.js';
import type { JobProcess } from '../faults/job-process.js';
import type { KafkaProxy, Verdict } from '../faults/kafka-proxy.js';
import { killAt } from '../faults/kill-at.js';
import { damageStore } from './damage-store.js';
import type { InstanceFault } from './fault.js';

/** How long a frame is waited for that a process is to die at. */
const momentMs = 10_000;
/** Longer than everything that a close may have to wait for. */
const closeMs = 90_000;
const lookMs = 200;

export interface LabInstanceParts {
  readonly process: JobProcess;
  /** One for each broker, in their order. */
  readonly proxies: readonly KafkaProxy[];
  readonly stateDir: string;
  readonly note: (text: string) => void;
  readonly onPid: (pid: number) => void;
  readonly signal: AbortSignal;
}

/** One instance of the job as a supervisor sees it: started again whenever it ends without having been told to. */
export class LabInstance {
  /** Times it ended by itself. */
  ended = 0;
  /** What should not have happened, in words. */
  readonly faults: string[] = [];
  private isWanted = false;
  private readonly supervising: Promise<void>;

  constructor(private readonly parts: LabInstanceParts) {
    this.supervising = this.supervise();
  }

  get process(): JobProcess {
    return this.parts.process;
  }

  start(): void {
    this.isWanted = true;
    if (this.process.isAlive) return;
    this.process.start();
    this.parts.onPid(this.process.pid);
  }

  /** In good order, as by a deploy. */
  async stop(): Promise<void> {
    this.isWanted = false;
    try {
      await this.process.close(closeMs);
    } catch (error) {
      if (!this.process.isAlive) return;
      this.faults.push(`${this.process.name} did not close: ${String(error).split('\n')[0]}`);
      await this.process.kill();
    }
  }

  async strike(fault: InstanceFault): Promise<void> {
    const { proxies, stateDir, note } = this.parts;
    switch (fault.kind) {
      case 'kill':
        await this.kill();
        await this.pause(fault.backAfter);
        this.start();
        return;
      case 'killAt':
        await this.killAt(fault.moment);
        this.start();
        return;
      case 'freeze':
        this.process.freeze();
        await this.pause(fault.duration);
        this.process.thaw();
        return;
      case 'stop':
        await this.stop();
        await this.pause(fault.backAfter);
        this.start();
        return;
      case 'slow': {
        const slow = () => delay(fault.delay, 'pass' as const);
        return this.during(proxies[fault.broker - 1], slow, slow, fault.duration);
      }
      case 'apart':
        return this.apart(proxies[fault.broker - 1], fault.duration, fault.arrivesLate);
      case 'loseResponses': {
        const random = new Random(fault.seed);
        const lose = () => (random.chance(fault.share) ? 'cut' : 'pass');
        return this.during(proxies[fault.broker - 1], () => 'pass', lose, fault.duration);
      }
      case 'cut':
        for (const proxy of proxies) proxy.cutAll();
        return;
      case 'corrupt':
        await this.kill();
        note(`${this.process.name}: ${(await damageStore(stateDir, new Random(fault.seed))) ?? 'has no store file'}`);
        this.start();
        return;
      case 'newDisk':
        await this.kill();
        await rm(stateDir, { recursive: true, force: true });
        this.start();
        return;
    }
  }

  /** What holds it up is over. */
  heal(): void {
    for (const proxy of this.parts.proxies) proxy.passAll();
    this.process.thaw();
  }

  /** Ends with the signal. */
  async supervised(): Promise<void> {
    await this.supervising;
  }

  private async kill(): Promise<void> {
    this.isWanted = false;
    await this.process.kill();
  }

  private async killAt(moment: keyof typeof epochMoments): Promise<void> {
    const { proxies } = this.parts;
    const [direction, api, verdict] = epochMoments[moment] ?? ['request', 'produce', 'cut'];
    const dead = proxies.map((proxy) => killAt(this.process, proxy, direction, verdict, ({ apiKey }) => apiKey === ApiKeys[api]));
    const end = Date.now() + momentMs;
    this.isWanted = false;
    while (this.process.isAlive && !dead.some((isDead) => isDead()) && Date.now() < end) await this.pause(20);
    for (const proxy of proxies) proxy.passAll();
    await this.process.kill();
  }

  private async apart(proxy: KafkaProxy | undefined, duration: number, arrivesLate: boolean): Promise<void> {
    let release: (verdict: Verdict) => void = () => undefined;
    const released = new Promise<Verdict>((resolve) => (release = resolve));
    const held = () => released;
    await this.during(proxy, held, held, duration).finally(() => release(arrivesLate ? 'pass' : 'cut'));
  }

  private async during(
    proxy: KafkaProxy | undefined,
    onRequest: KafkaProxy['onRequest'],
    onResponse: KafkaProxy['onResponse'],
    duration: number,
  ): Promise<void> {
    if (proxy === undefined) return;
    proxy.onRequest = onRequest;
    proxy.onResponse = onResponse;
    await this.pause(duration).finally(() => proxy.passAll());
  }

  private async supervise(): Promise<void> {
    const { signal, note } = this.parts;
    while (!signal.aborted) {
      if (this.isWanted && !this.process.isAlive) {
        this.ended++;
        note(`${this.process.name} ended by itself${this.process.errors.length > 0 ? `: ${this.process.errors.at(-1)?.code}` : ''}`);
        this.start();
      }
      await delay(lookMs);
    }
  }

  private pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.parts.signal });
  }
}
