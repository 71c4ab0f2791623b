/**
 * The network between one port and the brokers: connections that keep order, take time and break.
 *
 * It behaves as TCP under Kafka does. A broker serves the requests of a connection strictly in turn; requests and answers keep their order; a request is lost
 * only together with its connection, and then everything under way on it is in doubt. What was sent before a break may still reach the broker, later
 * than requests of the next connection. Each side's events run on its own clock: those of a dead process never run.
 */
import { KafkaTransportError } from '../../errors.js';
import type { Random } from './random.js';
import type { SimulationClock } from './simulation-clock.js';

/** Probabilities are per request; times are milliseconds, drawn evenly. */
export interface NetworkFaults {
  /** Time each way. Default: none, a request is carried out at once. */
  readonly delayMs?: readonly [number, number];
  /** The connection breaks before the request reaches the broker. */
  readonly loseRequest?: number;
  /** The connection breaks after the broker has carried the request out. */
  readonly loseResponse?: number;
  /** The broker gets the request twice. */
  readonly duplicate?: number;
  /** What was under way on a connection that breaks reaches the broker all the same, this probability… */
  readonly arriveLate?: number;
  /** …and so much later. */
  readonly lateMs?: readonly [number, number];
  /** How long the client takes to notice that a connection broke. */
  readonly silenceMs?: readonly [number, number];
}

export interface ClientNetworkOptions {
  readonly client: SimulationClock;
  readonly server: SimulationClock;
  readonly random: Random;
  readonly isUp: (broker: number) => boolean;
  /** Read anew for each request. */
  readonly faults: () => NetworkFaults;
}

export type Execute<T> = (reply: (answer: T) => void) => void;

const none: readonly [number, number] = [0, 0];

export class ClientNetwork {
  private readonly connections = new Map<string, Connection>();
  private readonly single = new Set<Connection>();
  private closed = false;
  private unreachable = false;

  constructor(private readonly options: ClientNetworkOptions) {}

  /** Sends over the connection of that lane; `null` takes a connection of its own. */
  call<T>(lane: string | null, broker: number, execute: Execute<T>): Promise<T> {
    if (this.closed) return Promise.reject(new KafkaTransportError('The connection to Kafka was closed.'));
    if (this.unreachable || !this.options.isUp(broker)) return this.refuse(broker);
    return this.connection(lane, broker).call(execute);
  }

  /** Breaks every connection; new ones can be made unless `stayAway`. */
  cut(stayAway = false, broker: number | null = null): void {
    this.unreachable = stayAway;
    for (const connection of [...this.connections.values(), ...this.single]) {
      if (broker === null || connection.broker === broker) connection.break('was cut');
    }
  }

  heal(): void {
    this.unreachable = false;
  }

  close(): void {
    this.closed = true;
    this.cut();
  }

  private connection(lane: string | null, broker: number): Connection {
    const key = `${lane ?? ''} ${broker}`;
    const known = lane === null ? undefined : this.connections.get(key);
    if (known?.isOpen === true) return known;
    const made = new Connection(broker, this.options, () => this.single.delete(made));
    if (lane === null) this.single.add(made);
    else this.connections.set(key, made);
    return made;
  }

  private refuse(broker: number): Promise<never> {
    return new Promise((_, reject) => {
      this.options.client.setTimer(() => reject(new KafkaTransportError(`Broker ${broker} can't be reached.`)), 1);
    });
  }
}

interface PendingCall {
  readonly fail: (reason: KafkaTransportError) => void;
  settled: boolean;
}

class Connection {
  isOpen = true;
  private lastArrival = 0;
  private lastAnswer = 0;
  private busy = false;
  private queue: (() => void)[] = [];
  private readonly pending = new Set<PendingCall>();

  constructor(
    readonly broker: number,
    private readonly options: ClientNetworkOptions,
    private readonly unused: () => void,
  ) {}

  call<T>(execute: Execute<T>): Promise<T> {
    const { random } = this.options;
    const faults = this.options.faults();
    const isLost = random.chance(faults.loseRequest ?? 0);
    const isAnswerLost = random.chance(faults.loseResponse ?? 0);
    const isDoubled = random.chance(faults.duplicate ?? 0);
    return new Promise<T>((resolve, reject) => {
      const call: PendingCall = { fail: reject, settled: false };
      this.pending.add(call);
      const answered = (answer: T): void => {
        this.lastAnswer = this.deliver(this.options.client, this.lastAnswer, faults, () => {
          if (call.settled) return;
          if (isAnswerLost) {
            this.break('was lost before the answer came');
            return;
          }
          this.settle(call);
          resolve(answer);
        });
      };
      const serve = (reply: (answer: T) => void): void =>
        this.serve((done) => {
          execute((answer) => {
            done();
            reply(answer);
          });
        });
      this.lastArrival = this.deliver(this.options.server, this.lastArrival, faults, () => {
        if (!this.options.isUp(this.broker)) return;
        if (!this.isOpen) {
          if (random.chance(faults.arriveLate ?? 0))
            this.options.server.setTimer(() => this.late(execute), random.between(faults.lateMs ?? none));
        } else if (isLost) this.break('was lost before the request arrived');
        else {
          serve(answered);
          if (isDoubled) serve(() => undefined);
        }
      });
    });
  }

  /** Everything under way is in doubt; the client learns of it when it notices. */
  break(reason: string): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.queue = [];
    this.unused();
    const { client, random } = this.options;
    const { silenceMs } = this.options.faults();
    const fail = (): void => {
      for (const call of [...this.pending]) {
        this.settle(call);
        call.fail(new KafkaTransportError(`The connection to broker ${this.broker} ${reason}.`));
      }
    };
    if (silenceMs === undefined) fail();
    else client.setTimer(fail, random.between(silenceMs));
  }

  private late<T>(execute: Execute<T>): void {
    if (this.options.isUp(this.broker)) execute(() => undefined);
  }

  private settle(call: PendingCall): void {
    call.settled = true;
    this.pending.delete(call);
    if (this.pending.size === 0) this.unused();
  }

  /** The broker reads the next request of a connection when it has answered the last. */
  private serve(job: (done: () => void) => void): void {
    this.queue.push(() => {
      job(() => {
        this.busy = false;
        this.next();
      });
    });
    this.next();
  }

  private next(): void {
    if (this.busy) return;
    const job = this.queue.shift();
    if (job === undefined) return;
    this.busy = true;
    job();
  }

  /** Runs after the network's delay, never before what was sent earlier. Returns the time. */
  private deliver(clock: SimulationClock, notBefore: number, { delayMs }: NetworkFaults, run: () => void): number {
    if (delayMs === undefined) {
      run();
      return notBefore;
    }
    const now = this.options.server.now();
    const at = Math.max(notBefore, now + this.options.random.between(delayMs));
    clock.setTimer(run, at - now);
    return at;
  }
}
