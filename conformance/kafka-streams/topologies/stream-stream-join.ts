/** `stream-stream-join`: kind, joiner, beforeMs, afterMs, graceMs, self, repartitionBoth, joinResultAgainWithRight. */
import type { KStream } from '../../../src/dsl/kstream.js';
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { joinWindows } from '../../../src/time/join-windows.js';
import { number, type JsonObject } from '../../case.js';
import { consumed, joiner, stream } from './inputs.js';

type TextStream = KStream<string, string>;

export function streamStreamJoin(builder: StreamsBuilder, definition: JsonObject): void {
  let left = stream(builder, 'L');
  let right = definition.self === true ? left : stream(builder, 'R');
  if (definition.repartitionBoth === true) {
    left = left.map((value, key) => [key, value], consumed).repartition(consumed);
    right = right
      .flatMap((value, key) => [[key, value] as const], consumed)
      .selectKey((_value, key) => key, consumed)
      .repartition(consumed);
  }
  let joined = join(left, right, definition);
  if (definition.joinResultAgainWithRight === true) joined = join(joined, right, definition);
  joined.to('OUT', consumed);
}

function join(left: TextStream, right: TextStream, definition: JsonObject): TextStream {
  const windows = joinWindows({
    before: number(definition, 'beforeMs'),
    after: number(definition, 'afterMs'),
    grace: number(definition, 'graceMs', 0),
  });
  const options = { ...consumed, windows };
  const pair = joiner(definition);
  if (definition.kind === 'inner') return left.join(right, pair, options);
  return definition.kind === 'left' ? left.leftJoin(right, pair, options) : left.outerJoin(right, pair, options);
}
