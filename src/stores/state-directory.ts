/**
 * Where an app instance keeps its local state: its identity and a folder for each task.
 *
 *     <stateDir>/<applicationId>/[instance-<n>/]process.json     who this instance is
 *                                               lock/            held while the process lives
 *                                               tasks/<task>/db  one database a task
 *                                               tasks/<task>/offset-sum  how far its state has got, roughly
 *                                               removed/<id>     state on its way out; what a crash leaves of it goes at the next round
 *
 * With a `stateDir` of its own an instance owns `<stateDir>/<applicationId>`. Without one, several processes may run side by side on one machine: each takes the
 * first free `instance-<n>` under the temporary folder, so one that was killed finds its slot, its id and its state again when it starts anew.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MillraceError } from '../errors.js';
import type { EngineClaim } from './engine-memory.js';
import { tryLockDirectory } from './directory-lock.js';
import type { DirectoryLock } from './directory-lock.js';
import { isMissing, TaskFolders, unusable } from './task-folders.js';

export interface StateDirectoryOptions {
  readonly applicationId: string;
  /** null: `<temporary folder>/millrace`, with a slot for each process. */
  readonly stateDir: string | null;
  /** The very folder, as `root` gave it before; default: the one, or the first free one, that `stateDir` means. */
  readonly root?: string | undefined;
  /**
   * Names of the stores of each sub-topology, by its number. Numbers shift from one release of a topology to the next: state that was kept under another number is found again by its stores.
   * Default: folders stay as they are.
   */
  readonly stores?: ReadonlyMap<number, readonly string[]> | undefined;
  /** Default `crypto.randomUUID`. */
  readonly newId?: () => string;
}

interface Identity {
  readonly processId: string;
  /** Of each sub-topology by number, as the folders were last used; null: not known. */
  readonly stores: Readonly<Record<string, readonly string[]>> | null;
  /** Group member ids by thread. */
  readonly members: Readonly<Record<string, string>>;
}

const maxSlots = 1000;

/** The default `stateDir`. */
export function defaultStateDir(): string {
  return join(tmpdir(), 'millrace');
}

/** What the runtime needs of the directory. A task without one (null) has its stores in memory. */
export type InstanceDirectory = Pick<
  StateDirectory,
  'processId' | 'memberId' | 'rememberMember' | 'tasks' | 'offsetSum' | 'rememberOffsetSum' | 'removeStale' | 'release'
> & {
  /** The instance's folder; undefined without a disk. */
  readonly root?: string;
  taskDirectory(taskId: string): string | null;
  /**
   * Where several threads share the directory: resolves when the task's folder is this thread's alone. Rejects with MILL_STORE_DIRECTORY_LOCKED when another
   * thread keeps it. `openings`: how many databases this thread is about to open, this one included.
   */
  readonly claim?: (taskId: string, openings: number) => Promise<EngineClaim>;
};

/** What an app that does not run may do to it besides. */
export type OwnDirectory = InstanceDirectory & Pick<StateDirectory, 'removeAll'>;

export class StateDirectory extends TaskFolders {
  private released: Promise<void> | null = null;
  private saving: Promise<void> = Promise.resolve();

  private constructor(
    root: string,
    private readonly lock: DirectoryLock,
    private identity: Identity,
  ) {
    super(root);
  }

  /** Errors: MILL_STORE_DIRECTORY_LOCKED, MILL_STORE_IO. */
  static async acquire(options: StateDirectoryOptions): Promise<StateDirectory> {
    const { applicationId, stateDir } = options;
    const root = options.root ?? (stateDir === null ? null : join(stateDir, applicationId));
    if (root !== null) {
      const directory = await take(root, options);
      if (directory !== null) return directory;
      throw new MillraceError(
        'MILL_STORE_DIRECTORY_LOCKED',
        `The state directory ${root} is used by another instance of ${applicationId}`,
        {
          details: { directory: root, applicationId },
        },
      );
    }
    const parent = join(defaultStateDir(), applicationId);
    for (let slot = 0; slot < maxSlots; slot++) {
      const directory = await take(join(parent, `instance-${slot}`), options);
      if (directory !== null) return directory;
    }
    throw new MillraceError('MILL_STORE_DIRECTORY_LOCKED', `All ${maxSlots} instance folders under ${parent} are in use`, {
      details: { directory: parent },
    });

    async function take(root: string, { newId = randomUUID }: StateDirectoryOptions): Promise<StateDirectory | null> {
      await makeDirectory(root);
      const lock = await tryLockDirectory(root);
      if (lock === null) return null;
      try {
        const known = await readIdentity(root);
        const directory = new StateDirectory(root, lock, known ?? { processId: newId(), members: {}, stores: null });
        if (known === null) await directory.save();
        if (options.stores !== undefined) await directory.useNumbersOf(options.stores);
        return directory;
      } catch (error) {
        await lock.release();
        throw error;
      }
    }
  }

  /** Part of the transactional ids. Kept across restarts, so that a new process fences the transactions of the one before. */
  get processId(): string {
    return this.identity.processId;
  }

  memberId(thread: string): string | null {
    return this.identity.members[thread] ?? null;
  }

  /** Keeps the group member id of a thread, for a quick return after a restart; null forgets it. */
  async rememberMember(thread: string, memberId: string | null): Promise<void> {
    if (this.memberId(thread) === memberId) return;
    const others = Object.entries(this.identity.members).filter(([name]) => name !== thread);
    const members = Object.fromEntries(memberId === null ? others : [...others, [thread, memberId]]);
    this.identity = { ...this.identity, members };
    await this.save();
  }

  /** A crash in between leaves some folders under their old numbers: their state does not fit, and is restored. */
  private async useNumbersOf(stores: ReadonlyMap<number, readonly string[]>): Promise<void> {
    const now = Object.fromEntries(stores);
    if (JSON.stringify(now) === JSON.stringify(this.identity.stores)) return;
    if (this.identity.stores !== null) await this.renumber(numbersByStores(this.identity.stores, stores));
    this.identity = { ...this.identity, stores: now };
    await this.save();
  }

  /** Gives the folder free for another process. Its state stays. */
  release(): Promise<void> {
    this.released ??= this.saving.then(() => this.lock.release());
    return this.released;
  }

  /** Whole or not at all: a crash in between leaves the file as it was. */
  private save(): Promise<void> {
    const saved = this.saving.then(async () => {
      const file = join(this.root, 'process.json');
      try {
        await writeFile(`${file}.new`, `${JSON.stringify(this.identity, null, 2)}\n`);
        await rename(`${file}.new`, file);
      } catch (error) {
        throw unusable(this.root, error);
      }
    });
    this.saving = saved.catch(() => undefined);
    return saved;
  }
}

/** Where the state of each sub-topology is looked for from now on: in the one that has one of its stores. */
function numbersByStores(
  before: Readonly<Record<string, readonly string[]>>,
  now: ReadonlyMap<number, readonly string[]>,
): ReadonlyMap<number, number> {
  const owner = new Map([...now].flatMap(([number, names]) => names.map((name) => [name, number])));
  return new Map(
    Object.entries(before).flatMap(([number, names]) => {
      const heir = names.map((name) => owner.get(name)).find((found) => found !== undefined);
      return heir === undefined || heir === Number(number) ? [] : [[Number(number), heir] as const];
    }),
  );
}

async function makeDirectory(root: string): Promise<void> {
  try {
    await mkdir(root, { recursive: true });
  } catch (error) {
    throw unusable(root, error);
  }
}

/** null when there is none, or it can't be read: then the instance is a new one. */
async function readIdentity(root: string): Promise<Identity | null> {
  let text: string;
  try {
    text = await readFile(join(root, 'process.json'), 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw unusable(root, error);
  }
  try {
    const read = JSON.parse(text) as Partial<Identity>;
    return typeof read.processId === 'string' && read.processId !== ''
      ? { processId: read.processId, members: read.members ?? {}, stores: read.stores ?? null }
      : null;
  } catch {
    return null;
  }
}
