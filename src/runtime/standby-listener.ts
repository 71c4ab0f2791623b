/** Progress of one store of a standby, told to the app's standby listener. */
export interface StandbyProgress {
  readonly taskId: string;
  readonly store: string;
  readonly topic: string;
  readonly partition: number;
  /** First offset read since the standby was opened. */
  readonly startOffset: number;
  /** Next offset to read. */
  readonly position: number;
  /** High watermark of the changelog as last seen. */
  readonly endOffset: number;
  /** Records between the two; offsets of transaction markers count. */
  readonly lag: number;
  /** Records of the batch that was just applied; 0 at the start and the end. */
  readonly batchRecords: number;
  /** Since the standby was opened. */
  readonly recordsApplied: number;
}

/** Why a standby ends: its task runs here now, or the standby is elsewhere, or is not needed any more. */
export type StandbySuspension = 'promoted' | 'migrated';

/** The listener of standbys, as Kafka Streams' `StandbyUpdateListener`. What it throws is logged. */
export interface StandbyUpdateListener {
  /** The store begins to follow its changelog. */
  onUpdateStart?(progress: StandbyProgress): void;
  /** A batch of records is in the store. */
  onBatch?(progress: StandbyProgress): void;
  /** The store follows no more. */
  onUpdateSuspended?(progress: StandbyProgress, reason: StandbySuspension): void;
}
