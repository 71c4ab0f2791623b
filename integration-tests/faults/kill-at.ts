import type { JobProcess } from './job-process.js';
import type { KafkaProxy, ProxiedRequest, Verdict } from './kafka-proxy.js';

/** Kills the instance when the proxy sees the frame. */
export function killAt(
  instance: JobProcess,
  proxy: KafkaProxy,
  direction: 'request' | 'response',
  verdict: Verdict,
  isIt: (request: ProxiedRequest) => boolean,
): () => boolean {
  let done = false;
  const judge = (request: ProxiedRequest): Verdict => {
    if (done || !isIt(request)) return 'pass';
    done = true;
    process.kill(instance.pid, 'SIGKILL');
    return verdict;
  };
  if (direction === 'request') proxy.onRequest = judge;
  else proxy.onResponse = judge;
  return () => done;
}
