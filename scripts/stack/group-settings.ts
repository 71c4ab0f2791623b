/** Settings of one group, as kafka-configs.sh makes them (IncrementalAlterConfigs): streams groups have the broker keep theirs. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Api } from '../../src/kafka/protocol/api.js';
import { decodeResponse, encodeRequest } from '../../src/kafka/protocol/frame.js';

interface Change {
  readonly groupId: string;
  readonly settings: Readonly<Record<string, string>>;
}

interface Result {
  readonly errorCode: number;
  readonly errorMessage: string | null;
}

const groupResource = 32;
const set = 0;

const incrementalAlterConfigs: Api<Change, readonly Result[]> = {
  key: 44,
  name: 'IncrementalAlterConfigs',
  minVersion: 1,
  maxVersion: 1,
  flexibleFrom: 1,

  encode(out, _version, { groupId, settings }) {
    out.writeArray([groupId], (name) => {
      out.writeInt8(groupResource);
      out.writeString(name);
      out.writeArray(Object.entries(settings), ([key, value]) => {
        out.writeString(key);
        out.writeInt8(set);
        out.writeNullableString(value);
        out.endStruct();
      });
      out.endStruct();
    });
    out.writeBoolean(false);
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const results = input.readArray((): Result => {
      const result = { errorCode: input.readInt16(), errorMessage: input.readNullableString() };
      input.readInt8();
      input.readString();
      input.endStruct();
      return result;
    });
    input.endStruct();
    return results;
  },
};

/** Over a plain connection to the first of `brokers`. @throws Error with the broker's reason */
export async function alterGroupSettings(brokers: readonly string[], groupId: string, settings: Change['settings']): Promise<void> {
  const [host = '', port = ''] = (brokers[0] ?? '').split(':');
  const socket = connect(Number(port), host);
  try {
    await once(socket, 'connect');
    for (const part of encodeRequest(incrementalAlterConfigs, 1, 0, 'group-settings', { groupId, settings }).parts) socket.write(part);
    let answer = Buffer.alloc(0);
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      answer = Buffer.concat([answer, chunk]);
      if (answer.length >= 4 && answer.length >= 4 + answer.readInt32BE()) break;
    }
    // Size and correlation id stand before the rest.
    for (const { errorCode, errorMessage } of decodeResponse(incrementalAlterConfigs, 1, answer.subarray(8)))
      if (errorCode !== 0) throw new Error(`Settings of group ${groupId}: ${errorMessage ?? errorCode}`);
  } finally {
    socket.destroy();
  }
}
