import type { Admin, Kafka } from 'kafkajs';
import { setTimeout as delay } from 'node:timers/promises';

const topics: readonly string[] = ['airports', 'flights', 'airport-days'];
/** A deleted topic's name is free a little later. */
const nameFreeWithinMs = 10_000;

/** What the demo leaves on a cluster: topics, those of the app included, and groups. */
export class Traces {
  /** False while topics of the demo's names may be somebody else's. */
  private hasRoom = false;

  constructor(
    private readonly kafka: Kafka,
    private readonly applicationId: string,
  ) {}

  /** Topics of these names may be somebody's own: they are deleted only when that was asked for. Gives those that are in the way. */
  makeRoom(replace: boolean): Promise<readonly string[]> {
    return this.withAdmin(async (admin) => {
      const there = await present(admin, (topic) => topics.includes(topic));
      if (there.length > 0 && !replace) return there;
      this.hasRoom = true;
      if (there.length === 0) return [];
      await admin.deleteTopics({ topics: there });
      const deadline = Date.now() + nameFreeWithinMs;
      while (Date.now() < deadline && (await present(admin, (topic) => topics.includes(topic))).length > 0) await delay(50);
      return [];
    });
  }

  async remove(): Promise<void> {
    if (!this.hasRoom) return;
    await this.withAdmin(async (admin) => {
      await admin.deleteTopics({ topics: await present(admin, (topic) => this.isOurs(topic)) });
      // A process that was killed stays in its group until its session ends: such a group goes with the broker's retention.
      for (const group of [this.applicationId, `${this.applicationId}-again`, 'demo-collector'])
        await admin.deleteGroups([group]).catch(() => undefined);
    });
  }

  private isOurs(topic: string): boolean {
    return topics.includes(topic) || topic.startsWith(`${this.applicationId}-`);
  }

  private async withAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = this.kafka.admin();
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.disconnect();
    }
  }
}

async function present(admin: Admin, isMeant: (topic: string) => boolean): Promise<string[]> {
  return (await admin.listTopics()).filter(isMeant);
}
