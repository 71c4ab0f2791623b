import { MillraceError } from '../../errors.js';
import type { OwnDirectory } from '../../stores/state-directory.js';

/** What an instance without a disk has of one: its identity and member ids outlive a restart of the app, stores do not. */
export class InMemoryDirectory implements OwnDirectory {
  private readonly members = new Map<string, string>();

  private isHeld = false;

  constructor(readonly processId: string) {}

  /** Errors: MILL_STORE_DIRECTORY_LOCKED while another app has it. */
  acquire(): this {
    if (this.isHeld) throw new MillraceError('MILL_STORE_DIRECTORY_LOCKED', `The instance ${this.processId} is running already`);
    this.isHeld = true;
    return this;
  }

  memberId(thread: string): string | null {
    return this.members.get(thread) ?? null;
  }

  async rememberMember(thread: string, memberId: string | null): Promise<void> {
    if (memberId === null) this.members.delete(thread);
    else this.members.set(thread, memberId);
  }

  /** Stores are in memory, whatever the app asks for. */
  taskDirectory(): null {
    return null;
  }

  async tasks(): Promise<string[]> {
    return [];
  }

  async offsetSum(): Promise<null> {
    return null;
  }

  async rememberOffsetSum(): Promise<void> {
    // What is in memory is gone after a crash: there is nothing to tell then.
  }

  async removeStale(): Promise<string[]> {
    return [];
  }

  async removeAll(): Promise<string[]> {
    return [];
  }

  async release(): Promise<void> {
    this.isHeld = false;
  }
}
