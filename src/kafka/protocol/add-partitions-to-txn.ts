import type { AddPartitionsToTxnRequest, PartitionResult } from '../port.js';
import type { Api } from './api.js';
import { groupByTopic } from './group-by-topic.js';
import { readPartitionResults } from './partition-results.js';
import { writeProducerIdentity } from './producer-identity.js';

/** Version 3 at most: later ones are for brokers among themselves and need rights on the cluster. */
export const addPartitionsToTxn: Api<AddPartitionsToTxnRequest, readonly PartitionResult[]> = {
  key: 24,
  name: 'AddPartitionsToTxn',
  minVersion: 1,
  maxVersion: 3,
  flexibleFrom: 3,

  encode(out, _version, request) {
    writeProducerIdentity(out, request);
    out.writeArray(groupByTopic(request.partitions), ({ topic, partitions }) => {
      out.writeString(topic);
      out.writeArray(partitions, ({ partition }) => out.writeInt32(partition));
      out.endStruct();
    });
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const results = readPartitionResults(input);
    input.endStruct();
    return results;
  },
};
