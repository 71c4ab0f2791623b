/** One thing that must hold for every commit. `run` returns what is wrong, or null. */
export interface Check {
  readonly name: string;
  run(): Promise<string | null>;
}
