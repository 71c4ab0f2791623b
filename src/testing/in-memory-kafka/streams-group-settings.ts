/** Settings of a streams group, by the names that brokers give them. */

/** The keys of a broker, with its defaults. */
const defaults = {
  'streams.session.timeout.ms': 45_000,
  'streams.heartbeat.interval.ms': 5000,
  'streams.num.standby.replicas': 0,
  'streams.initial.rebalance.delay.ms': 3000,
  'streams.assignment.interval.ms': 1000,
} as const;

export type StreamsGroupSetting = keyof typeof defaults;
export type StreamsGroupSettings = Readonly<Record<StreamsGroupSetting, number>>;

/** @throws TypeError for a setting that streams groups do not have, or a value that is none */
export function settingsWith(before: StreamsGroupSettings, changes: Readonly<Record<string, string>>): StreamsGroupSettings {
  const changed: Record<StreamsGroupSetting, number> = { ...before };
  for (const [name, value] of Object.entries(changes)) {
    if (!isSetting(name)) throw new TypeError(`a group has no setting ${name}; it has ${Object.keys(defaults).join(', ')}`);
    if (!/^\d+$/.test(value)) throw new TypeError(`${name} is a whole number, not ${value}`);
    changed[name] = Number(value);
  }
  return changed;
}

/** `delayMs`: how long an empty group waits for further members. */
export function defaultSettings(delayMs: number): StreamsGroupSettings {
  return { ...defaults, 'streams.initial.rebalance.delay.ms': delayMs, 'streams.assignment.interval.ms': 0 };
}

function isSetting(name: string): name is StreamsGroupSetting {
  return name in defaults;
}
