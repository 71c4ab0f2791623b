import { MillraceError } from '../errors.js';
import type { AppPlatform } from './app-platform.js';
import type { ResolvedConfig } from './config.js';
import type { StreamsState } from './streams-app.js';

/** Deletes the local state of an app that does not run. Without a `stateDir` there are several folders: it is the one that the app used, if it used one. */
export class StateCleaning {
  /** The platform, watched: which folder the app gets. */
  readonly platform: AppPlatform;
  private root: string | undefined;
  private isOn = false;

  constructor(
    private readonly given: AppPlatform,
    private readonly config: Pick<ResolvedConfig, 'stateDir' | 'applicationId' | 'logger'>,
  ) {
    this.platform = {
      ...given,
      openPort: (config, logger) => given.openPort(config, logger),
      openDirectory: async (options) => {
        const directory = await given.openDirectory(options);
        this.root = directory.root;
        return directory;
      },
    };
  }

  /** Errors: MILL_STATE_INVALID, MILL_STORE_DIRECTORY_LOCKED, MILL_STORE_IO. */
  async run(state: StreamsState): Promise<void> {
    if (state !== 'created' && state !== 'notRunning' && state !== 'error')
      throw new MillraceError('MILL_STATE_INVALID', `cleanUp() needs an app that has not started or has ended, this one is ${state}`);
    if (this.isOn) throw new MillraceError('MILL_STATE_INVALID', 'cleanUp() is under way already');
    this.isOn = true;
    try {
      await this.removeAll();
    } finally {
      this.isOn = false;
    }
  }

  /** Errors: MILL_STATE_INVALID while it is under way. */
  mustBeOver(): void {
    if (this.isOn) throw new MillraceError('MILL_STATE_INVALID', 'start() has to wait for cleanUp(), which is under way');
  }

  private async removeAll(): Promise<void> {
    const { stateDir, applicationId, logger } = this.config;
    const directory = await this.given.openDirectory({ stateDir, applicationId, root: this.root });
    try {
      const tasks = await directory.removeAll();
      logger.info({ tasks, directory: directory.root }, 'deleted the local state');
    } finally {
      await directory.release();
    }
  }
}
