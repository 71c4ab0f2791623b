import { MillraceError } from '../../errors.js';
import type { EpochState } from '../epoch-state.js';
import { KeyValueState } from '../key-value-state.js';
import { SessionState } from '../session-state.js';
import { SlidingWindowState } from '../sliding-window-state.js';
import { VersionedState } from '../versioned-state.js';
import { WindowState } from '../window-state.js';
import { SessionReader, SlidingWindowReader } from './entry-readers.js';
import { KeyValueReader } from './key-value-reader.js';
import type { StoreReader } from './store-reader.js';
import { VersionedReader } from './versioned-reader.js';
import { WindowReader } from './window-reader.js';

/** @throws MILL_STORE_WRONG_TYPE for stores that are an operator's own: buffers, records of a join */
export function readerOf(state: EpochState): StoreReader {
  if (state instanceof KeyValueState) return new KeyValueReader<unknown, unknown>(state);
  if (state instanceof WindowState) return new WindowReader<unknown, unknown>(state);
  if (state instanceof SessionState) return new SessionReader<unknown, unknown>(state);
  if (state instanceof SlidingWindowState) return new SlidingWindowReader<unknown, unknown>(state);
  if (state instanceof VersionedState) return new VersionedReader<unknown, unknown>(state);
  throw new MillraceError('MILL_STORE_WRONG_TYPE', `Store ${state.name} is of kind ${state.kind}, which can’t be queried`, {
    details: { store: state.name, kind: state.kind },
  });
}
