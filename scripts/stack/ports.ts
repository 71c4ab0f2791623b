import { createServer } from 'node:net';

// Below every system's range for outgoing connections (Linux: from 32768): while a broker restarts, no client's socket can take
// its port, not even by connecting to itself.
const lowest = 20_000;
const highest = 32_000;

/** Picks `count` different ports of the loopback interface that nobody listens on. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
