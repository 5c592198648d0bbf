/** The parts of a stored conversation in memory, and how they are put together. */

import { privateSettings } from '../../packages/model/index.ts';
import { ACCOUNT_LIMITS, CONVERSATION_LIMITS, RUN_LIMITS } from '../../shared/limits.ts';
import { ConversationAgent } from '../agents/agent.ts';
import { DeliveryStore } from '../deliveries/delivery-statements.ts';
import type { Env } from '../env.ts';
import { firstPositionOf, wasTakenBack } from '../storage/restored.ts';
import type { RowMeter } from '../storage/row-meter.ts';
import { ActivityReport } from './activity-report.ts';
import { Approvals } from './calls/approvals.ts';
import { CallDesk } from './calls/call-desk.ts';
import { TunnelHands } from './calls/hands.ts';
import { Plans } from './calls/plans.ts';
import { type Deadline, Deadlines } from './deadlines.ts';
import { Inbox } from './inbox.ts';
import { isListed, type ListedState, Listing, newestSaid } from './listing.ts';
import { RunLog } from './log/run-log.ts';
import { Memory } from './memory/prepare-turn.ts';
import { lapsesAtMs } from './privacy.ts';
import { TapeReader } from './reading/reader.ts';
import { RunEnding, RunRows } from './run/ending.ts';
import type { RunDeps } from './run/run-deps.ts';
import { Runner } from './run/runner.ts';
import { newRunNote } from './run-note.ts';
import { RunWatch } from './run-watch.ts';
import type { ConversationRow } from './store/rows.ts';
import type { ConversationStore } from './store/statements.ts';
import { Children } from './subagents/children.ts';
import { ParentLink } from './subagents/parent.ts';
import { startsSubagents } from './subagents/shares.ts';
import type { Followers } from './tape/followers.ts';
import { Recorder } from './tape/recorder.ts';
import { Tape } from './tape/tape.ts';
import { Titles } from './titles.ts';

export type Parts = ReturnType<typeof assembleParts>;

/** What the object gives its parts. */
export interface ObjectGround extends Pick<RunDeps, 'onEnd'> {
  /** Called when an ephemeral conversation has expired, or the text of a private one is to be deleted. */
  readonly onExpiry: () => Promise<void>;
  /** Called when no one waits for a subagent's conversation any more; `isGone` if its parent was deleted. */
  readonly onOver: (isGone: boolean) => void;
  readonly env: Env;
  readonly storage: DurableObjectStorage;
  readonly store: ConversationStore;
  readonly followers: Followers;
  /** Counts every row that this object writes. */
  readonly meter: RowMeter;
}

/** Reads the stored rows; `isStored` is false for a conversation that is created in this step. */
export function assembleParts(
  row: ConversationRow,
  isStored: boolean,
  { env: configured, storage, store, followers, meter, onEnd, onExpiry, onOver }: ObjectGround,
) {
  const { id: conversationId, owner: account, bridge: bridgeId, parent } = row;
  const { runs } = store;
  const isPrivate = row.deleteAfterHours !== null;
  const env = isPrivate ? privateSettings(configured) : configured;
  const log = new RunLog(runs, isStored);
  const tape = new Tape(store, isStored, firstPositionOf(env));
  const { current } = log;
  const at = current?.started ?? null;
  const resumed = current && at !== null ? { at, run: current, conversationId } : null;
  const recorder = new Recorder(tape, followers, resumed);
  const hands = new TunnelHands(env, meter, { account, conversationId, bridgeId, isPrivate });
  const memory = new Memory({
    conversationId,
    log,
    runs,
    images: store.images,
    recorder,
    settings: env,
  });
  const watch = new RunWatch({ account, conversation: conversationId });
  const note = newRunNote(env, conversationId, log);
  const deadlines = new Deadlines(storage, meter, isStored, {
    onFailure: (deadline, error) => watch.log('deadline_missed', log.current, { deadline, error }),
    againMs: RUN_LIMITS.watchdogMs,
  });
  const arm = () => {
    void note.report();
    return deadlines.arm();
  };
  let hasSubagents = false;
  const state: ListedState = {
    agentStatus: () => agent?.status,
    isRunning: () => isListed(row) && log.current !== undefined,
    hasSubagents: () => {
      hasSubagents ||= isListed(row) && startsSubagents(recorder.response);
      return hasSubagents;
    },
    onListed: (listed) => activity.listed(listed),
    answeredMs: () => reader.answeredMs(),
    saidAfter: (ordinal) =>
      newestSaid(reader.views.back(ordinal), ACCOUNT_LIMITS.maxSearchChars, ordinal),
  };
  const inOrder = (work: () => Promise<void>) => listing.inOrder(work);
  const noted = { row, env, recorder, state, inOrder, meter, arm };
  const activity = new ActivityReport(noted, isStored);
  const listing = new Listing(row, { env, store, log, runs, state }, isStored);
  const reader = new TapeReader(listing, tape, log, runs);
  const now = () => Date.now();
  const advance = () => runner.advance();
  const isUnattended = row.ephemeral || row.agent !== undefined;
  const callDeps = { isUnattended, log, recorder, memory, hands, watch, now, advance };
  const calls = new CallDesk(callDeps);
  const family = { env, log, runs, recorder, now, arm };
  const children = new Children({ ...family, row, calls, meter, watch });
  const head = () => tape.head;
  const parentLink = parent && new ParentLink({ ...family, parent, listing, reader, head, onOver });
  const deps: RunDeps = {
    ...callDeps,
    conversationId,
    arm,
    settings: env,
    wasTakenBack: (atMs) => wasTakenBack(env, atMs, now()),
    head,
    newUuid: () => crypto.randomUUID(),
    worktree: () => ({
      commit: false,
      ...row.agent?.settings.worktree,
      message: listing.row.title,
    }),
    onEnd,
    onStep: () => {
      parentLink?.notify();
      activity.look();
      void note.report();
    },
    subagents: children,
  };
  const rows = new RunRows(meter, isStored ? log.storedRows : null, isListed(row));
  const runner = new Runner(deps, calls, new RunEnding(deps, rows));
  const expiresAtMs = () => {
    const isUnheard = children.dueMs() !== null || (parentLink?.dueMs() ?? null) !== null;
    const isOver = row.ephemeral && !log.current && !isUnheard;
    if (isOver) return reader.answeredMs() + CONVERSATION_LIMITS.ephemeralMs;
    return lapsesAtMs({ row, log, reader });
  };
  const inbox = new Inbox(deps, calls, runner);
  const titles = new Titles({ listing, runs, reader, recorder, watch, settings: env, arm });
  const publish = () => listing.publish(reader.answeredMs());
  const deliveries = new DeliveryStore(meter.watch(storage.sql));
  const kept = { log, recorder, reader, listing, store, env, hands, turns: runs.turns };
  const agent: ConversationAgent | null =
    row.agent === undefined
      ? null
      : new ConversationAgent(row.agent, { ...kept, publish, arm, deliveries });
  deadlines.add((nowMs) => runner.deadlines(nowMs), {
    watchdog: advance,
    attempt: advance,
    bridge: advance,
    calls: advance,
    questions: advance,
    budget: () => runner.endOverBudget(),
  });
  deadlines.add((nowMs) => titles.deadlines(nowMs), { title: () => titles.advance() });
  deadlines.add(() => agent?.deadlines() ?? [], { agent: () => agent?.wake() });
  deadlines.add(() => deadlineAt('subagents', children.dueMs()), {
    subagents: () => children.advance(),
  });
  // What the account or the parent has not heard of.
  const reporters = [listing, activity, ...(parentLink ? [parentLink] : [])];
  deadlines.add(() => reporters.flatMap((each) => deadlineAt('report', each.dueMs())), {
    report: async () => void (await Promise.all(reporters.map((each) => each.report()))),
  });
  deadlines.add(() => deadlineAt('expiry', expiresAtMs()), { expiry: onExpiry });
  recorder.onRecord = () => {
    agent?.look();
    activity.look();
  };
  if (isStored) agent?.wake(); // An earlier instance may have died between a change and its report.
  // Ends a damaged run now: its followers would otherwise wait for the next request or alarm.
  if (log.isDamaged || recorder.isDamaged) queueMicrotask(advance);
  const approvals = new Approvals(log, recorder, hands, bridgeId);
  const plans = new Plans({ conversationId, log, runs, tape, recorder });
  /** The fields that never change; the listing owns the others. */
  const fixed: Pick<
    ConversationRow,
    'id' | 'owner' | 'bridge' | 'ephemeral' | 'deleteAfterHours' | 'parent'
  > = row;
  return {
    row: fixed,
    listing,
    titles,
    activity,
    deadlines,
    agent,
    watch,
    note,
    log,
    recorder,
    reader,
    runner,
    inbox,
    calls,
    approvals,
    plans,
    hands,
    memory,
    children,
    parentLink,
  };
}

function deadlineAt<Name extends string>(name: Name, atMs: number | null): Deadline<Name>[] {
  return atMs === null ? [] : [{ name, atMs }];
}
