/** An app in a process of its own: tells its test what happens, closes when it is told to, and ends with its test. */
import type { StreamsApp } from 'millrace';
import type { JobMessage } from '../exactly-once/job-messages.js';

export function runJob(app: StreamsApp): void {
  const tell = (message: JobMessage): void => {
    if (process.connected) process.send?.(message);
  };
  const tellError = (error: unknown): void => tell({ kind: 'error', code: '', message: String(error) });

  app.on('state', (state) => tell({ kind: 'state', state }));
  app.on('error', tellError);
  process.on('message', () => void app.close().catch(tellError).finally(end));
  // Without its test the process has no reason to live.
  process.on('disconnect', () => process.exit(1));
  app.start().catch((error: unknown) => {
    tellError(error);
    end();
  });
}

function end(): void {
  process.removeAllListeners('disconnect');
  process.disconnect();
}
