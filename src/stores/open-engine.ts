import { rm } from 'node:fs/promises';
import { MillraceError } from '../errors.js';
import { readEngineMeta, type EngineMeta } from './engine-meta.js';
import type { Engine } from './engine/engine.js';
import { openLevelEngine } from './engine/level-engine.js';

export interface OpenedEngine {
  readonly engine: Engine;
  readonly meta: EngineMeta;
  /** Why it is empty although the task had state here; null when it is not. */
  readonly corrupted: MillraceError | null;
}

/** Opens a task's database and reads what it says of itself; one of which either fails is made anew. Errors: MILL_STORE_DIRECTORY_LOCKED, MILL_STORE_IO. */
export async function openEngine(directory: string, taskId: string): Promise<OpenedEngine> {
  try {
    return await openOnce(directory, taskId);
  } catch (error) {
    if (!(error instanceof MillraceError) || error.code !== 'MILL_STORE_CORRUPTED') throw error;
    await rm(directory, { recursive: true, force: true });
    return { ...(await openOnce(directory, taskId)), corrupted: error };
  }
}

async function openOnce(directory: string, taskId: string): Promise<OpenedEngine> {
  const { engine, corrupted } = await openLevelEngine({ directory, taskId });
  try {
    return { engine, meta: await readEngineMeta(engine), corrupted };
  } catch (error) {
    await engine.close();
    throw error;
  }
}
