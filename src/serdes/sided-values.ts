import { serdeOverAll } from './late-serde.js';
import type { CompiledSerde, Serde } from './serde.js';
import { valueListSerde } from './value-list.js';

/** A value of one side of a join. */
export interface SidedValue {
  readonly left: boolean;
  readonly value: unknown;
}

/** Records of one key, time and side of a stream-stream join: a list of values, each behind a byte that is 1 for the left side (Kafka Streams' `LeftOrRightValue`). */
export function sidedValuesSerde(leftSerde: Serde<unknown> | null, rightSerde: Serde<unknown> | null): Serde<readonly SidedValue[]> {
  const name = `leftOrRight(${leftSerde?.name ?? 'default'}, ${rightSerde?.name ?? 'default'})`;
  const inner = [leftSerde, rightSerde].map((serde) => ({ serde: serde as Serde<never> | null, part: 'value' as const }));
  return serdeOverAll(name, inner, ([left, right]) =>
    valueListSerde(codecOf(name, left as CompiledSerde<unknown>, right as CompiledSerde<unknown>)),
  );
}

function codecOf(
  name: string,
  left: CompiledSerde<unknown>,
  right: CompiledSerde<unknown>,
): Parameters<typeof valueListSerde<SidedValue>>[0] {
  return {
    name,
    encode: (sided, out) => {
      out.writeByte(sided.left ? 1 : 0);
      (sided.left ? left : right).encode(sided.value, out);
    },
    decodeSync: (buffer, start, end) => {
      const isLeft = buffer[start] === 1;
      return { left: isLeft, value: (isLeft ? left : right).decodeSync(buffer, start + 1, end) };
    },
  };
}
