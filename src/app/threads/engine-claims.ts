import type { EngineClaim, EngineMemory } from '../../stores/engine-memory.js';
import type { Claim } from './task-claims.js';

type Holding = Pick<Claim, 'holder' | 'ticket'>;

/** What the databases of all threads of the process take, with whom: a thread that dies gives nothing back itself. */
export class EngineClaims {
  private readonly held = new Map<number, Map<number, EngineClaim>>();

  constructor(private readonly memory: EngineMemory) {}

  /** Bytes for a database that the thread opens now; `openings`: how many are about to be opened in the process, this one included. */
  claim({ holder, ticket }: Holding, openings: number): number {
    const claim = this.memory.claim(openings);
    const ofHolder = this.held.get(holder) ?? new Map<number, EngineClaim>();
    this.held.set(holder, ofHolder.set(ticket, claim));
    return claim.engineBytes;
  }

  /** The database is closed. */
  release({ holder, ticket }: Holding): void {
    this.held.get(holder)?.get(ticket)?.giveBack();
    this.held.get(holder)?.delete(ticket);
  }

  /** The thread is gone, and with it every database that it had open. */
  ended(holder: number): void {
    for (const claim of this.held.get(holder)?.values() ?? []) claim.giveBack();
    this.held.delete(holder);
  }
}
