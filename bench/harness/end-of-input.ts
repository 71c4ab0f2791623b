/** Resolves when the owner closes this process's standard input, which it also does by dying. */
export function endOfInput(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.on('end', resolve).on('close', resolve).on('error', resolve).resume();
  });
}
