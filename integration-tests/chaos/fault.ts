import type { epochMoments } from '../faults/epoch-moments.js';

/** What may happen to an instance of the job. Times are milliseconds. */
export type InstanceFault = { readonly instance: number } & (
  | { readonly kind: 'kill'; readonly backAfter: number }
  | { readonly kind: 'killAt'; readonly moment: keyof typeof epochMoments }
  | { readonly kind: 'freeze'; readonly duration: number }
  | { readonly kind: 'stop'; readonly backAfter: number }
  /** Every frame to and from one broker takes that much longer. */
  | { readonly kind: 'slow'; readonly broker: number; readonly delay: number; readonly duration: number }
  /** Nothing passes to and from one broker; what was held back then arrives late, or its connection breaks. */
  | { readonly kind: 'apart'; readonly broker: number; readonly duration: number; readonly arrivesLate: boolean }
  /** That share of one broker's responses is lost, each with its connection. */
  | { readonly kind: 'loseResponses'; readonly broker: number; readonly share: number; readonly duration: number; readonly seed: number }
  | { readonly kind: 'cut' }
  /** Killed, a file of a store damaged, started again. */
  | { readonly kind: 'corrupt'; readonly seed: number }
  /** Killed, and started again without its state directory. */
  | { readonly kind: 'newDisk' }
);

export type ClusterFault =
  | { readonly kind: 'restartBroker'; readonly broker: number; readonly signal: 'SIGTERM' | 'SIGKILL' }
  /** Partitions of the job's topics and of Kafka's own get another leader. */
  | { readonly kind: 'moveLeaders'; readonly seed: number };

/** Each instance in turn is stopped in good order and started again. */
export interface RollingRestart {
  readonly kind: 'rollingRestart';
}

export type Fault = InstanceFault | ClusterFault | RollingRestart;

export interface PlannedFault {
  /** Its place in the schedule, from 1: the same in each part of it. */
  readonly number: number;
  /** Milliseconds after the start. It comes later when the last one on the same instance, or on the cluster, is not over yet. */
  readonly at: number;
  /** It comes only when every partition has had output since the fault before, within bounds: else nothing but starts would be hit where processes start slowly. */
  readonly afterOutput: boolean;
  readonly fault: Fault;
}

export function isOnInstance(fault: Fault): fault is InstanceFault {
  return 'instance' in fault;
}

export function describeFault(fault: Fault): string {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const who = isOnInstance(fault) ? `instance ${fault.instance}` : '';
  switch (fault.kind) {
    case 'kill':
      return `${who}: kill -9, back after ${seconds(fault.backAfter)}`;
    case 'killAt':
      return `${who}: kill -9 ${fault.moment}`;
    case 'freeze':
      return `${who}: SIGSTOP for ${seconds(fault.duration)}`;
    case 'stop':
      return `${who}: stopped, back after ${seconds(fault.backAfter)}`;
    case 'slow':
      return `${who}: frames of broker ${fault.broker} take ${fault.delay} ms longer for ${seconds(fault.duration)}`;
    case 'apart':
      return `${who}: cut off from broker ${fault.broker} for ${seconds(fault.duration)}${fault.arrivesLate ? ', all arrives late' : ''}`;
    case 'loseResponses':
      return `${who}: ${Math.round(100 * fault.share)} % of the responses of broker ${fault.broker} lost for ${seconds(fault.duration)}`;
    case 'cut':
      return `${who}: all connections break`;
    case 'corrupt':
      return `${who}: kill -9, a store file damaged`;
    case 'newDisk':
      return `${who}: kill -9, back with an empty disk`;
    case 'restartBroker':
      return `broker ${fault.broker}: ${fault.signal}, started again`;
    case 'moveLeaders':
      return 'leaders move';
    case 'rollingRestart':
      return 'rolling restart';
  }
}
