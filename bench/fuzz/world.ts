/** What the requests of a fuzz run refer to. */

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
  /** What the sender has. */
  readonly own: Ids;
  /** What another account has. */
  readonly foreign: Ids;
  /** What nobody has. */
  readonly missing: Ids;
}

export type Owner = keyof World;
