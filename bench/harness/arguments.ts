/** `--name value` arguments of the measured programs, the same for Node and Java. */
export type ProgramArguments = Readonly<Record<string, string | number>>;

export function toCommandLine(values: ProgramArguments): string[] {
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/** Reads what {@link toCommandLine} wrote. */
export class ReadArguments {
  private readonly values = new Map<string, string>();

  constructor(commandLine: readonly string[]) {
    for (let i = 0; i + 1 < commandLine.length; i += 2) this.values.set((commandLine[i] ?? '').slice(2), commandLine[i + 1] ?? '');
  }

  text(name: string, otherwise?: string): string {
    const value = this.values.get(name) ?? otherwise;
    if (value === undefined) throw new Error(`--${name} is missing`);
    return value;
  }

  number(name: string, otherwise?: number): number {
    return otherwise !== undefined && !this.values.has(name) ? otherwise : Number(this.text(name));
  }
}
