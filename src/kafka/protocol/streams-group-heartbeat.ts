import type {
  StreamsAssignment,
  StreamsEndpoint,
  StreamsGroupHeartbeatRequest,
  StreamsGroupHeartbeatResponse,
  StreamsGroupSubTopology,
  StreamsGroupTopology,
  StreamsInternalTopic,
  StreamsTasks,
} from '../streams-groups.js';
import type { Api } from './api.js';
import { readTasks, writeKeyValues } from './streams-group-structs.js';
import type { WireReader } from './wire-reader.js';
import type { WireWriter } from './wire-writer.js';

/** Kafka 4.2 and later, as far as the group protocol is stable (KIP-1071). Version 1 tells of missing client tags. */
export const streamsGroupHeartbeat: Api<StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse> = {
  key: 88,
  name: 'StreamsGroupHeartbeat',
  minVersion: 0,
  maxVersion: 1,
  flexibleFrom: 0,

  encode(out, _version, request) {
    const { joining, owned } = request;
    out.writeString(request.groupId);
    out.writeString(request.memberId);
    out.writeInt32(request.memberEpoch);
    out.writeInt32(request.endpointEpoch);
    out.writeNullableString(request.groupInstanceId);
    out.writeNullableString(joining?.rackId ?? null);
    out.writeInt32(joining?.rebalanceTimeoutMs ?? -1);
    writeNullable(out, joining?.topology ?? null, writeTopology);
    writeOwned(out, owned);
    out.writeNullableString(joining?.processId ?? null);
    writeNullable(out, joining?.endpoint ?? null, writeEndpoint);
    if (joining === null) out.writeNullArray();
    else writeKeyValues(out, joining.tags);
    // How far copies have got: a 4.4 broker places tasks without it.
    out.writeNullArray();
    out.writeNullArray();
    out.writeBoolean(request.shutdown);
    out.endStruct();
  },

  decode(input, version) {
    input.readInt32();
    const errorCode = input.readInt16();
    const errorMessage = input.readNullableString();
    input.readString();
    const memberEpoch = input.readInt32();
    const heartbeatIntervalMs = input.readInt32();
    if (version === 0) input.readInt32();
    input.readInt32();
    if (version >= 1) input.readInt64();
    const statuses = input.readArray(() => {
      const status = { code: input.readInt8(), detail: input.readString() };
      input.endStruct();
      return status;
    });
    const [active, standby, warmup] = [readNullableTasks(input), readNullableTasks(input), readNullableTasks(input)];
    if (version >= 1) input.readBoolean();
    const endpointEpoch = input.readInt32();
    input.readArray(() => skipEndpoint(input));
    input.endStruct();
    const isUnchanged = active === null && standby === null && warmup === null;
    const assignment = isUnchanged ? null : { active: active ?? [], standby: standby ?? [], warmup: warmup ?? [] };
    return { errorCode, errorMessage, memberEpoch, heartbeatIntervalMs, endpointEpoch, statuses, assignment };
  },
};

/** A structure that may be missing is preceded by a byte that says so. */
function writeNullable<T>(out: WireWriter, value: T | null, write: (out: WireWriter, value: T) => void): void {
  out.writeInt8(value === null ? -1 : 1);
  if (value !== null) write(out, value);
}

function writeOwned(out: WireWriter, owned: StreamsAssignment | null): void {
  for (const tasks of owned === null ? [null, null, null] : [owned.active, owned.standby, owned.warmup]) {
    if (tasks === null) out.writeNullArray();
    else out.writeArray(tasks, (task) => writeTasks(out, task));
  }
}

function writeTasks(out: WireWriter, { subTopology, partitions }: StreamsTasks): void {
  out.writeString(subTopology);
  out.writeArray(partitions, (partition) => out.writeInt32(partition));
  out.endStruct();
}

function writeEndpoint(out: WireWriter, { host, port }: StreamsEndpoint): void {
  out.writeString(host);
  out.writeInt16(port > 0x7fff ? port - 0x1_0000 : port);
  out.endStruct();
}

function writeTopology(out: WireWriter, { epoch, subTopologies }: StreamsGroupTopology): void {
  out.writeInt32(epoch);
  out.writeArray(subTopologies, (sub) => writeSubTopology(out, sub));
  out.endStruct();
}

function writeSubTopology(out: WireWriter, sub: StreamsGroupSubTopology): void {
  out.writeString(sub.id);
  out.writeArray(sub.sourceTopics, (topic) => out.writeString(topic));
  out.writeArray([], () => undefined);
  out.writeArray(sub.changelogTopics, (topic) => writeTopic(out, topic));
  out.writeArray(sub.repartitionSinkTopics, (topic) => out.writeString(topic));
  out.writeArray(sub.repartitionSourceTopics, (topic) => writeTopic(out, topic));
  out.writeArray(sub.copartitionGroups, (group) => {
    writePlaces(out, group, sub.sourceTopics);
    out.writeArray([], () => undefined);
    const repartitions = sub.repartitionSourceTopics.map(({ name }) => name);
    writePlaces(out, group, repartitions);
    out.endStruct();
  });
  out.endStruct();
}

/** Topics are named by where they stand in the list of the sub-topology. */
function writePlaces(out: WireWriter, names: readonly string[], list: readonly string[]): void {
  const places = names.map((name) => list.indexOf(name)).filter((place) => place >= 0);
  out.writeArray(places, (place) => out.writeInt16(place));
}

function writeTopic(out: WireWriter, topic: StreamsInternalTopic): void {
  out.writeString(topic.name);
  out.writeInt32(topic.partitions);
  out.writeInt16(topic.replicationFactor);
  writeKeyValues(out, topic.configs);
  out.endStruct();
}

function readNullableTasks(input: WireReader): readonly StreamsTasks[] | null {
  return input.readNullableArray(() => readTasks(input));
}

/** Who has which partitions is read from the group's description, which says it task by task. */
function skipEndpoint(input: WireReader): void {
  input.readString();
  input.readInt16();
  input.endStruct();
  for (let role = 0; role < 2; role++) {
    input.readArray(() => {
      input.readString();
      input.readArray(() => input.readInt32());
      input.endStruct();
    });
  }
  input.endStruct();
}
