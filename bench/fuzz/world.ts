/** The ids that the requests of a fuzz run use. */

/** An id of each kind, by the name of its schema. */
export type Ids = Readonly<Record<IdName, string>>;

export type IdName =
  | 'ConversationId'
  | 'ResponseId'
  | 'CallId'
  | 'DocumentId'
  | 'BridgeId'
  | 'DeviceId';

export interface World {
  /** Ids of the sender. */
  readonly own: Ids;
  /** Ids of another account. */
  readonly foreign: Ids;
  /** Ids that no account has. */
  readonly missing: Ids;
}
