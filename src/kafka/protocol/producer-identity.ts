import type { ProducerIdentity } from '../port.js';
import type { WireWriter } from './wire-writer.js';

/** The three fields that most transaction requests begin with. */
export function writeProducerIdentity(out: WireWriter, identity: ProducerIdentity): void {
  out.writeString(identity.transactionalId);
  out.writeBigInt64(identity.producerId);
  out.writeInt16(identity.producerEpoch);
}
