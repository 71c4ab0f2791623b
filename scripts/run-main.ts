import { MissingToolsError } from './stack/java.js';

/**
 * Runs a script's main function; its number, if it returns one, is the exit code. A missing Java or Maven is told in its own words,
 * any other failure with its stack, both with exit code 1.
 */
export async function runMain(main: () => Promise<number | undefined>): Promise<void> {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    console.error(error instanceof MissingToolsError ? error.message : error);
    process.exitCode = 1;
  }
}
