/** What the object of the runs in progress answers. Its callers and it import this, and never each other. */

/** Which conversations have a run in progress. Own servers have one such object, Cloudflare has none. */
export interface RunsPort extends Rpc.DurableObjectBranded {
  /** Notes whether a conversation has a run in progress. Repeatable. */
  note(conversationId: string, isInProgress: boolean): void;

  /** Resumes every run in progress, after a start of the server. Returns when each has been asked to go on. */
  wake(): Promise<void>;
}
