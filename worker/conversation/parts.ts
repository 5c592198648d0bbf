/** What an existing conversation consists of in memory, and how its parts are put together. */
import type { Env } from '../env.ts';
import { Approvals } from './approvals.ts';
import type { Followers } from './followers.ts';
import { TunnelHands } from './hands.ts';
import { Listing } from './listing.ts';
import { TapeReader } from './reader.ts';
import { Recorder } from './recorder.ts';
import type { ConversationRow } from './rows.ts';
import { RunLog } from './run-log.ts';
import { Runner, type RunnerDeps } from './runner.ts';
import { Schedule } from './schedule.ts';
import type { ConversationStore } from './statements.ts';
import { Tape } from './tape.ts';

export interface Parts {
  /** What never changes of the conversation; the rest is the listing's. */
  readonly row: Pick<ConversationRow, 'id' | 'owner' | 'bridge' | 'ephemeral'>;
  readonly listing: Listing;
  readonly schedule: Schedule;
  readonly log: RunLog;
  readonly recorder: Recorder;
  readonly reader: TapeReader;
  readonly runner: Runner;
  readonly approvals: Approvals;
  readonly hands: TunnelHands;
}

/** What the parts stand on: the object's own. */
export interface Ground extends Pick<RunnerDeps, 'onEnd'> {
  readonly env: Env;
  readonly storage: DurableObjectStorage;
  readonly store: ConversationStore;
  readonly followers: Followers;
}

/** Reads what is stored; `isStored` is false for a conversation that was made in this very step. */
export function assembleParts(
  row: ConversationRow,
  isStored: boolean,
  { env, storage, store, followers, onEnd }: Ground,
): Parts {
  const { id: conversationId, owner: account, bridge: bridgeId } = row;
  const log = new RunLog(store, isStored);
  const tape = new Tape(store, isStored);
  const recorder = new Recorder(tape, followers, log.current?.started ?? null);
  const hands = new TunnelHands(env.TUNNELS, { account, conversationId, bridgeId });
  const schedule = new Schedule(storage, isStored);
  const runner = new Runner({
    conversationId,
    log,
    recorder,
    schedule,
    hands,
    settings: env,
    head: () => tape.head,
    now: () => Date.now(),
    newUuid: () => crypto.randomUUID(),
    onEnd,
  });
  const listing = new Listing(row, store, env.ACCOUNTS);
  const reader = new TapeReader(listing, tape, log);
  const approvals = new Approvals(log, recorder, hands);
  return { row, listing, schedule, log, recorder, reader, runner, approvals, hands };
}
