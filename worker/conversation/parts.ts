/** The parts of a stored conversation in memory, and how they are put together. */
import { ACCOUNT_LIMITS, CONVERSATION_LIMITS, RUN_LIMITS } from '../../shared/limits.ts';
import { ConversationAgent } from '../agents/agent.ts';
import { DeliveryStore } from '../deliveries/delivery-statements.ts';
import type { Env } from '../env.ts';
import { firstPositionOf, wasTakenBack } from '../storage/restored.ts';
import type { RowMeter } from '../storage/row-meter.ts';
import { privateSettings } from '../upstream/models.ts';
import { ActivityReport } from './activity-report.ts';
import { Approvals } from './calls/approvals.ts';
import { CallDesk } from './calls/call-desk.ts';
import { TunnelHands } from './calls/hands.ts';
import { Plans } from './calls/plans.ts';
import { type Deadline, Deadlines } from './deadlines.ts';
import { isListed, type ListedState, Listing, newestSaid } from './listing.ts';
import { RunLog } from './log/run-log.ts';
import { Memory } from './memory/prepare-turn.ts';
import { lapsesAtMs } from './privacy.ts';
import { TapeReader } from './reading/reader.ts';
import { RunEnding, RunRows } from './run/ending.ts';
import { Inbox } from './run/inbox.ts';
import type { RunDeadline } from './run/run-deadlines.ts';
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

/** `report`: what the account or the parent has not heard of. */
type DeadlineName = RunDeadline | 'subagents' | 'report' | 'expiry' | 'agent' | 'title';

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
  const { id: conversationId, owner: account, bridge: bridgeId } = row;
  const isPrivate = row.deleteAfterHours !== null;
  const env = isPrivate ? privateSettings(configured) : configured;
  const log = new RunLog(store.runs, isStored);
  const tape = new Tape(store, isStored, firstPositionOf(env));
  const { current } = log;
  const at = current?.started ?? null;
  const resumed = current && at !== null ? { at, run: current, conversationId } : null;
  const recorder = new Recorder(tape, followers, resumed, () => {
    agent?.look();
    activity.look();
  });
  const hands = new TunnelHands(env, meter, { account, conversationId, bridgeId, isPrivate });
  const memory = new Memory({
    conversationId,
    log,
    runs: store.runs,
    images: store.images,
    recorder,
    settings: env,
  });
  const watch = new RunWatch({ account, conversation: conversationId });
  const note = newRunNote(env, conversationId, log);
  const deps: RunDeps = {
    conversationId,
    isUnattended: row.ephemeral || row.agent !== undefined,
    log,
    recorder,
    memory,
    arm: () => {
      void note.report();
      return deadlines.arm();
    },
    hands,
    watch,
    settings: env,
    wasTakenBack: (atMs) => wasTakenBack(env, atMs, Date.now()),
    head: () => tape.head,
    now: () => Date.now(),
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
    advanceSubagents: () => children.advance(),
    recallSubagents: (left) => children.recall(left),
    advance: () => runner.advance(),
  };
  const calls = new CallDesk(deps);
  const runner = new Runner(
    deps,
    calls,
    new RunEnding(deps, new RunRows(meter, isStored ? log.storedRows : null, isListed(row))),
  );
  const inbox = new Inbox(deps, calls, runner);
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
  const noted = { row, env, recorder, state, inOrder, meter, arm: deps.arm };
  const activity = new ActivityReport(noted, isStored);
  const { runs } = store;
  const listing = new Listing(row, { env, store, log, runs, state }, isStored);
  const reader = new TapeReader(listing, tape, log, runs);
  const { arm, now } = deps;
  const titles = new Titles({ listing, runs, reader, recorder, watch, settings: env, arm });
  const family = { env, log, runs, recorder, now, arm };
  const children = new Children({ ...family, row, calls, meter, watch });
  const { parent } = row;
  const parentLink =
    parent && new ParentLink({ ...family, parent, listing, reader, head: deps.head, onOver });
  const reporters = [listing, activity, ...(parentLink ? [parentLink] : [])];
  const advance = () => runner.advance();
  const deadlines: Deadlines<DeadlineName> = new Deadlines(storage, meter, isStored, {
    derive: (nowMs) => {
      const known = [
        ...runner.deadlines(nowMs),
        ...titles.deadlines(nowMs),
        ...(agent?.deadlines() ?? []),
        ...due('subagents', children.dueMs()),
        ...due('report', parentLink?.dueMs()),
      ];
      const isOver = row.ephemeral && known.length === 0;
      const endsMs = isOver ? reader.answeredMs() + CONVERSATION_LIMITS.ephemeralMs : null;
      return [
        ...known,
        ...due('report', listing.dueMs()),
        ...due('report', activity.dueMs()),
        ...due('expiry', endsMs),
        ...due('expiry', lapsesAtMs({ row, log, reader })),
      ];
    },
    handlers: {
      watchdog: advance,
      attempt: advance,
      bridge: advance,
      calls: advance,
      title: () => titles.advance(),
      budget: () => runner.endOverBudget(),
      questions: advance,
      report: async () => void (await Promise.all(reporters.map((each) => each.report()))),
      subagents: () => children.advance(),
      expiry: onExpiry,
      agent: () => agent?.wake(),
    },
    onFailure: (deadline, error) => watch.log('deadline_missed', log.current, { deadline, error }),
    againMs: RUN_LIMITS.watchdogMs,
  });
  const publish = () => listing.publish(reader.answeredMs());
  const deliveries = new DeliveryStore(meter.watch(storage.sql));
  const kept = { log, recorder, reader, listing, store, env, hands, turns: runs.turns };
  const agent: ConversationAgent | null =
    row.agent === undefined
      ? null
      : new ConversationAgent(row.agent, { ...kept, publish, arm, deliveries });
  if (isStored) agent?.wake(); // An earlier instance may have died between a change and its report.
  // Ends a damaged run now: its followers would otherwise wait for the next request or alarm.
  if (log.isDamaged || recorder.isDamaged) queueMicrotask(() => runner.advance());
  const approvals = new Approvals(log, recorder, hands, bridgeId);
  const plans = new Plans({ conversationId, log, runs: store.runs, tape, recorder });
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

function due<Name extends DeadlineName>(
  name: Name,
  atMs: number | null | undefined,
): Deadline<Name>[] {
  return atMs == null ? [] : [{ name, atMs }];
}
