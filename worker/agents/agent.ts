/** The part of a conversation that makes it an agent: its status, and the reports of it. */

import {
  type Agent as AgentView,
  type WebhookDelivery,
  WebhookEvent,
} from '../../shared/api/agents.ts';
import type { AgentStatus } from '../../shared/api/conversations.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { hasWorktrees, WORKTREES_NOT_SUPPORTED } from '../../shared/tools/worktree.ts';
import type { Deadline } from '../conversation/deadlines.ts';
import type { RunLog } from '../conversation/log/run-log.ts';
import type { TapeReader } from '../conversation/reading/reader.ts';
import { ERRANDS } from '../conversation/store/errands.ts';
import type { AgentRow, ConversationRow, Machine, RunRequest } from '../conversation/store/rows.ts';
import type { ConversationStore } from '../conversation/store/statements.ts';
import type { Recorder } from '../conversation/tape/recorder.ts';
import { Deliveries, type DeliveriesDeps } from '../deliveries/deliveries.ts';
import { newWebhookSecret } from '../deliveries/signature.ts';
import { LevelReport } from '../level-report.ts';
import type { AgentWishes } from '../ports/conversation.ts';
import { shownWebhook, viewOf } from './view.ts';
import { AgentWorktree, type WorktreeDeps } from './worktree.ts';

export interface AgentDeps {
  readonly log: RunLog;
  readonly recorder: Pick<Recorder, 'response'>;
  readonly reader: TapeReader;
  readonly listing: { readonly row: ConversationRow };
  readonly store: Pick<ConversationStore, 'saveAgent'>;
  readonly turns: WorktreeDeps['turns'];
  readonly hands: WorktreeDeps['hands'];
  readonly deliveries: DeliveriesDeps['store'];
  readonly env: DeliveriesDeps['env'];
  /** Sends the account the conversation's entry, with {@link ConversationAgent.status}. */
  readonly publish: () => Promise<unknown>;
  /** Sets the alarm for the next deadline. */
  readonly arm: () => Promise<void>;
}

/** Derives the status from the runs. Each change is stored, then reported; the next instance repeats a lost report. */
export class ConversationAgent {
  readonly #deps: AgentDeps;
  #row: AgentRow;
  #isLooking = false;
  readonly #level: LevelReport<{ status: AgentStatus }>;
  #isStopped = false;
  readonly #deliveries: Deliveries | null;
  /** Null for an agent that works in the workspace itself. */
  readonly worktree: AgentWorktree | null;

  constructor(row: AgentRow, deps: AgentDeps) {
    this.#row = row;
    this.#deps = deps;
    const present = () => ({ status: this.#row.status });
    const heard = row.listed === null ? {} : { status: row.listed };
    this.#level = new LevelReport({ present, send: ({ status }) => this.#publish(status) }, heard);
    const { id: agentId } = deps.listing.row;
    const { webhook: target, worktree } = row.settings;
    const onGone = () => this.#forgetReceiver();
    const { deliveries: store, env, arm } = deps;
    this.#deliveries = target ? new Deliveries({ agentId, target, store, env, onGone, arm }) : null;
    const read = () => this.#row.closing;
    const save = (closing: AgentRow['closing']) => this.#save({ ...this.#row, closing });
    this.worktree = worktree ? new AgentWorktree({ ...deps, read, save }) : null;
  }

  /** The present status. */
  get status(): AgentStatus {
    const work = this.#work;
    return this.#deps.listing.row.archived && !UNFINISHED.has(work) ? 'archived' : work;
  }

  /** The status without regard to whether the agent is put away. */
  get #work(): AgentStatus {
    const { log, recorder } = this.#deps;
    const run = log.current ?? log.find(log.newest);
    if (!run || run.status === 'queued') return 'queued';
    if (run.status !== 'running') return run.status;
    return recorder.response?.status === 'waiting' ? 'waiting' : 'running';
  }

  /** Notices a change of the status after the caller's synchronous step. Cheap where nothing has changed. */
  look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    queueMicrotask(() => {
      this.#isLooking = false;
      if (this.#isStopped) return;
      const { status } = this;
      const before = this.#row.status;
      if (status !== before) {
        this.#save({ ...this.#row, status });
        // Putting an agent away, and bringing it back, changes nothing about its work.
        if (UNFINISHED.has(before) || UNFINISHED.has(status)) this.#deliver(this.#work);
        if (status === 'archived') void this.worktree?.remove();
      }
      void this.#level.report();
      if (!this.#level.isHeard) void this.#deps.arm().catch(() => undefined);
    });
  }

  /** Goes on with what an earlier instance left, or what is due. */
  wake(): void {
    this.look();
    this.#deliveries?.start();
    void this.worktree?.close();
  }

  deadlines(): Deadline<'agent'>[] {
    const times = [this.#level.dueMs(), this.#deliveries?.nextMs, this.worktree?.closeAtMs];
    return times.flatMap((atMs) => (atMs == null ? [] : [{ name: 'agent', atMs }]));
  }

  /** Stores and reports nothing from now on: the conversation is deleted. */
  stop(): void {
    this.#isStopped = true;
    this.#level.stop();
    this.#deliveries?.stop();
  }

  /** The request with the place of its work. A summary needs none. */
  placed(request: RunRequest): RunRequest {
    const { usesFiles } = ERRANDS[request.type];
    return this.worktree && usesFiles ? { ...request, worktree: true } : request;
  }

  /** The events for the webhook, the newest first. */
  deliveries(): WebhookDelivery[] {
    return this.#deliveries?.list() ?? [];
  }

  /** The agent as a client sees it. Only the client that made it gets the webhook's secret. */
  describe(withSecret = false): AgentView {
    const { log, reader, listing } = this.#deps;
    const run = log.find(log.newest);
    if (!run) throw new Error('an agent begins with a message');
    const { webhook } = this.#row.settings;
    const { tools } = run.request;
    return {
      ...viewOf(listing.row, reader.response(run)),
      status: this.status,
      updated: new Date(reader.answeredMs()).toISOString(),
      ...(tools && { tools }),
      ...this.worktree?.describe(),
      ...(webhook && { webhook: shownWebhook(webhook, withSecret) }),
    };
  }

  #deliver(status: AgentStatus): void {
    const { webhook } = this.#row.settings;
    const type = WebhookEvent.shape.type.safeParse(`agent.${status}`).data;
    if (!type || !webhook || webhook.isGone) return;
    const { id, title, responseId, error } = this.describe();
    const failure = error && { code: error.code, message: error.message }; // The details stay here.
    const data = { id, title, status, responseId, ...(failure && { error: failure }) };
    this.#deliveries?.add({ type, timestamp: new Date().toISOString(), data });
  }

  /** The receiver has answered that it wants nothing more. */
  #forgetReceiver(): void {
    const { settings } = this.#row;
    const { webhook } = settings;
    if (!webhook) return;
    this.#save({ ...this.#row, settings: { ...settings, webhook: { ...webhook, isGone: true } } });
  }

  #save(row: AgentRow): void {
    this.#deps.store.saveAgent(row);
    this.#row = row;
  }

  async #publish(status: AgentStatus): Promise<void> {
    await this.#deps.publish();
    if (!this.#isStopped) this.#save({ ...this.#row, listed: status });
  }
}

const UNFINISHED: ReadonlySet<AgentStatus> = new Set(['queued', 'running', 'waiting']);

/** The row of an agent that begins. */
export function newAgentRow(wishes: AgentWishes): AgentRow {
  const { webhook, workspace, branch, base, commit = false } = wishes;
  const settings = {
    ...(webhook && {
      webhook: { url: webhook.url, secret: webhook.secret ?? newWebhookSecret() },
    }),
    ...(workspace === 'worktree' && { worktree: { branch, base, commit } }),
  };
  return { settings, status: 'queued', listed: null };
}

/** Throws WORKTREES_NOT_SUPPORTED for a bridge known to have none. `machine` is undefined for an unknown one. */
export function requireWorktrees(
  wishes: AgentWishes | undefined,
  machine: Machine | null | undefined,
): void {
  if (wishes?.workspace !== 'worktree' || machine === undefined) return;
  if (machine && hasWorktrees(machine)) return;
  throw new DrawbridgeError('WORKTREES_NOT_SUPPORTED', WORKTREES_NOT_SUPPORTED);
}
