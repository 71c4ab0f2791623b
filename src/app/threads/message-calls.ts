/**
 * Calls and events over a message port: both sides may call what the other offers. A call is answered, or fails with the other side's error, or with that of `end`; events are
 * heard in the order they were sent.
 */
import { receiveError, sendError, type SentError } from './sent-error.js';

/** By name: what a call takes, and what it answers. */
export type CallTable = Record<string, { readonly takes: unknown; readonly gives: unknown }>;
/** By name: what an event says. */
export type EventTable = Record<string, unknown>;

export interface Side {
  readonly calls: CallTable;
  readonly events: EventTable;
}

export type CallHandlers<C extends CallTable> = { readonly [N in keyof C]: (takes: C[N]['takes']) => Promise<C[N]['gives']> };
export type EventHandlers<E extends EventTable> = { readonly [N in keyof E]: (says: E[N]) => void };

/** The part of a port, a worker or `parentPort` that is needed. */
export interface MessageWire {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

type Message =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly takes: unknown }
  | { readonly kind: 'answer'; readonly id: number; readonly gives: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: SentError }
  | { readonly kind: 'event'; readonly name: string; readonly says: unknown };

interface Waiting {
  readonly resolve: (gives: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** `Own` is what this side offers, `Other` what it may ask for. */
export class MessageCalls<Own extends Side, Other extends Side> {
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 1;
  private ended: Error | null = null;

  constructor(
    private readonly wire: MessageWire,
    private readonly calls: CallHandlers<Own['calls']>,
    private readonly events: EventHandlers<Own['events']>,
  ) {
    wire.on('message', (message) => {
      this.take(message as Message);
    });
  }

  /** @throws the other side's error; that of `end` */
  call<N extends keyof Other['calls'] & string>(name: N, takes: Other['calls'][N]['takes']): Promise<Other['calls'][N]['gives']> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      if (this.ended !== null) {
        reject(this.ended);
        return;
      }
      this.waiting.set(id, { resolve, reject });
      try {
        this.post({ kind: 'call', id, name, takes });
      } catch (error) {
        this.waiting.delete(id);
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  /** Does nothing once the wire has ended. */
  tell<N extends keyof Other['events'] & string>(name: N, says: Other['events'][N]): void {
    if (this.ended === null) this.post({ kind: 'event', name, says });
  }

  /** Nothing more comes: every call that waits fails with `error`, and so does every later one. */
  end(error: Error): void {
    if (this.ended !== null) return;
    this.ended = error;
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  private post(message: Message): void {
    this.wire.postMessage(message);
  }

  private take(message: Message): void {
    if (this.ended !== null) return;
    switch (message.kind) {
      case 'event':
        this.events[message.name as keyof Own['events']](message.says as Own['events'][string]);
        return;
      case 'call':
        void this.answer(message.id, message.name, message.takes);
        return;
      case 'answer':
        this.settle(message.id)?.resolve(message.gives);
        return;
      case 'failure':
        this.settle(message.id)?.reject(receiveError(message.error));
    }
  }

  private settle(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    return waiting;
  }

  private async answer(id: number, name: string, takes: unknown): Promise<void> {
    try {
      const gives = await this.calls[name as keyof Own['calls']](takes);
      if (this.ended === null) this.post({ kind: 'answer', id, gives });
    } catch (error) {
      if (this.ended === null) this.post({ kind: 'failure', id, error: sendError(error) });
    }
  }
}
