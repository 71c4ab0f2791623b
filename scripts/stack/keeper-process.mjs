// Ends a stack whose owner is gone. The owner holds this process's standard input open and writes lines to it:
// `pid N` and `forget N` for a process that must not outlive the owner, `folder PATH` for data to remove, `release` to let all of it live on. However the owner ends
// (return, exception, SIGINT, even SIGKILL), its end of the pipe closes, and what is still listed goes with it.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const pids = new Set();
const folders = new Set();

// Ctrl-C and a closed terminal reach the whole process group; this process ends by its pipe alone.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [word, value = ''] = line.split(/ (.*)/s);
    if (word === 'pid') pids.add(Number(value));
    else if (word === 'forget') pids.delete(Number(value));
    else if (word === 'folder') folders.add(value);
    else if (word === 'release') {
      pids.clear();
      folders.clear();
    }
  })
  .on('close', () => {
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Already gone.
      }
    }
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
