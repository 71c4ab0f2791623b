import { homedir } from 'node:os';
import { join } from 'node:path';

/** The one folder that scripts may leave behind: downloads and the record of a stack kept up. It lies outside the tree. */
export const cacheDirectory = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'millrace');
