import type { StreamsConfig } from '../../src/app/config.js';
import { brokersOptions } from '../../src/app/brokers-options.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import type { SchedulePlan } from './plan.js';

/** The same plan with a streams group: what the instances decide in a classic one are settings of the group. */
export function asStreamsGroup(plan: SchedulePlan, seed: number): SchedulePlan {
  const random = new Random(seed ^ 0x1071);
  const { sessionTimeout = 6000, numStandbyReplicas = 0 } = plan.config;
  const settings = {
    'streams.session.timeout.ms': sessionTimeout,
    'streams.heartbeat.interval.ms': Math.round(Math.min(1000, sessionTimeout / 3)),
    'streams.num.standby.replicas': numStandbyReplicas,
    'streams.initial.rebalance.delay.ms': random.pick([0, 0, 1000]),
    'streams.assignment.interval.ms': random.pick([0, 1000]),
  };
  const groupSettings = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
  const cluster = { ...plan.cluster, topicDelayMs: random.pick([0, 200, 3000]) };
  return { ...plan, cluster, config: { ...withoutBrokersOptions(plan.config), groupProtocol: 'streams' }, groupSettings };
}

function withoutBrokersOptions(config: SchedulePlan['config']): SchedulePlan['config'] {
  const left = new Set<string>(brokersOptions(config as StreamsConfig));
  return Object.fromEntries(Object.entries(config).filter(([name]) => !left.has(name)));
}
