import type { StreamsAssignment, StreamsEndpoint, StreamsGroupDescription, StreamsGroupMemberDescription } from '../streams-groups.js';
import type { Api } from './api.js';
import { readKeyValues, readTasks } from './streams-group-structs.js';
import type { WireReader } from './wire-reader.js';

export interface DescribedStreamsGroup extends StreamsGroupDescription {
  readonly groupId: string;
  readonly errorCode: number;
}

/** Sent to the coordinator of the groups. Version 0 has all that is read: 1 adds what tools show. */
export const streamsGroupDescribe: Api<{ readonly groupIds: readonly string[] }, readonly DescribedStreamsGroup[]> = {
  key: 89,
  name: 'StreamsGroupDescribe',
  minVersion: 0,
  maxVersion: 0,
  flexibleFrom: 0,

  encode(out, _version, request) {
    out.writeArray(request.groupIds, (groupId) => out.writeString(groupId));
    out.writeBoolean(false);
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const groups = input.readArray((): DescribedStreamsGroup => {
      const errorCode = input.readInt16();
      input.readNullableString();
      const groupId = input.readString();
      const state = input.readString();
      const groupEpoch = input.readInt32();
      input.readInt32();
      if (input.readInt8() >= 0) skipTopology(input);
      const members = input.readArray(() => readMember(input));
      input.readInt32();
      input.endStruct();
      return { groupId, errorCode, state, groupEpoch, members };
    });
    input.endStruct();
    return groups;
  },
};

function readMember(input: WireReader): StreamsGroupMemberDescription {
  const memberId = input.readString();
  const memberEpoch = input.readInt32();
  const groupInstanceId = input.readNullableString();
  input.readNullableString();
  input.readString();
  input.readString();
  input.readInt32();
  const processId = input.readString();
  const endpoint = input.readInt8() < 0 ? null : readEndpoint(input);
  const tags = readKeyValues(input);
  for (let kind = 0; kind < 2; kind++) {
    input.readArray(() => {
      input.readString();
      input.readInt32();
      input.readInt64();
      input.endStruct();
    });
  }
  const [assignment, target] = [readAssignment(input), readAssignment(input)];
  input.readBoolean();
  input.endStruct();
  return { memberId, memberEpoch, groupInstanceId, processId, endpoint, tags, assignment, target };
}

function readEndpoint(input: WireReader): StreamsEndpoint {
  const endpoint = { host: input.readString(), port: input.readInt16() & 0xffff };
  input.endStruct();
  return endpoint;
}

function readAssignment(input: WireReader): StreamsAssignment {
  const [active, standby, warmup] = [0, 1, 2].map(() => input.readArray(() => readTasks(input)));
  input.endStruct();
  return { active: active ?? [], standby: standby ?? [], warmup: warmup ?? [] };
}

function skipTopology(input: WireReader): void {
  input.readInt32();
  input.readArray(() => {
    input.readString();
    input.readArray(() => input.readString());
    input.readArray(() => input.readString());
    for (let kind = 0; kind < 2; kind++) input.readArray(() => skipTopic(input));
    input.endStruct();
  });
  input.endStruct();
}

function skipTopic(input: WireReader): void {
  input.readString();
  input.readInt32();
  input.readInt16();
  readKeyValues(input);
  input.endStruct();
}
