import { rm } from 'node:fs/promises';
import { MillraceError } from '../errors.js';
import { readEngineMeta, type EngineMeta } from './engine-meta.js';
import type { Engine } from './engine/engine.js';
import { openLevelEngine, type LevelEngineOptions } from './engine/level-engine.js';

export interface OpenedEngine {
  readonly engine: Engine;
  readonly meta: EngineMeta;
  /** Why it is empty although the task had state here; null when it is not. */
  readonly corrupted: MillraceError | null;
}

/** Opens a task's database and reads what it says of itself; one of which either fails is made anew. Errors: MILL_STORE_DIRECTORY_LOCKED, MILL_STORE_IO. */
export async function openEngine(options: LevelEngineOptions): Promise<OpenedEngine> {
  try {
    return await openOnce(options);
  } catch (error) {
    if (!(error instanceof MillraceError) || error.code !== 'MILL_STORE_CORRUPTED') throw error;
    await rm(options.directory, { recursive: true, force: true });
    return { ...(await openOnce(options)), corrupted: error };
  }
}

async function openOnce(options: LevelEngineOptions): Promise<OpenedEngine> {
  const { engine, corrupted } = await openLevelEngine(options);
  try {
    return { engine, meta: await readEngineMeta(engine), corrupted };
  } catch (error) {
    await engine.close();
    throw error;
  }
}
