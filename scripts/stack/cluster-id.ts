import { randomBytes } from 'node:crypto';

/**
 * A new cluster id: a random UUID in Kafka's text form. It never begins with `-`, which Kafka's tools would take for an option
 * (one in 64 would; Kafka's own generator leaves those out too).
 */
export function newClusterId(random: (size: number) => Buffer = randomBytes): string {
  for (;;) {
    const id = random(16).toString('base64url');
    if (!id.startsWith('-')) return id;
  }
}
