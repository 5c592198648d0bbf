/** The part of a conversation that makes it an agent: its status, and who is told of it. */
import {
  type AgentStatus,
  type Agent as AgentView,
  type WebhookDelivery,
  WebhookEvent,
} from '../../shared/agents.ts';
import type { ChatResponse } from '../../shared/documents.ts';
import { responseIdOf } from '../../shared/ids.ts';
import type { Deadline } from '../conversation/deadlines.ts';
import type { TapeReader } from '../conversation/reading/reader.ts';
import type { AgentRow, AgentWebhook, ConversationRow } from '../conversation/store/rows.ts';
import type { RunLog } from '../conversation/store/run-log.ts';
import type { ConversationStore } from '../conversation/store/statements.ts';
import type { Recorder } from '../conversation/tape/recorder.ts';
import { Deliveries, type DeliveriesDeps } from '../deliveries/deliveries.ts';
import { newWebhookSecret } from '../deliveries/signature.ts';
import type { AgentWishes } from '../ports.ts';
import { STATUS_LIMITS } from './limits.ts';

export interface AgentDeps {
  readonly log: RunLog;
  readonly recorder: Pick<Recorder, 'response'>;
  readonly reader: TapeReader;
  readonly listing: { readonly row: ConversationRow };
  readonly store: Pick<ConversationStore, 'saveAgent'>;
  readonly deliveries: DeliveriesDeps['store'];
  readonly env: DeliveriesDeps['env'];
  /** Sends the account the conversation's entry, with {@link Agent.status}. */
  readonly publish: () => Promise<unknown>;
  /** Sets the alarm for the next deadline. */
  readonly arm: () => Promise<void>;
}

/**
 * The status is derived from the runs, so it is never wrong. Each change is stored and then told to the account. What an
 * instance that died had not told, the next instance tells.
 */
export class Agent {
  readonly #deps: AgentDeps;
  #row: AgentRow;
  #isLooking = false;
  #isTelling = false;
  /** When the account is told again; null unless telling it has failed. */
  #tellAtMs: number | null = null;
  #isStopped = false;
  readonly #deliveries: Deliveries | null;

  constructor(row: AgentRow, deps: AgentDeps) {
    this.#row = row;
    this.#deps = deps;
    const { id: agentId } = deps.listing.row;
    const { webhook: target } = row.settings;
    const onGone = () => this.#forgetReceiver();
    const { deliveries: store, env, arm } = deps;
    this.#deliveries = target ? new Deliveries({ agentId, target, store, env, onGone, arm }) : null;
  }

  /** The present status. */
  get status(): AgentStatus {
    const { log, recorder, listing } = this.#deps;
    const run = log.current ?? log.find(log.newest);
    if (!run || run.status === 'queued') return 'queued';
    if (run.status !== 'running') return listing.row.archived ? 'archived' : run.status;
    return recorder.response?.status === 'waiting' ? 'waiting' : 'running';
  }

  /** Notices a change of the status when the caller's synchronous step has ended. Cheap where nothing has changed. */
  look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    queueMicrotask(() => {
      this.#isLooking = false;
      if (this.#isStopped) return;
      const { status } = this;
      if (status !== this.#row.status) {
        this.#save({ ...this.#row, status });
        this.#deliver(status);
      }
      void this.#tell();
    });
  }

  /** Goes on with what an earlier instance left, or what is due. */
  wake(): void {
    this.look();
    this.#deliveries?.start();
  }

  deadlines(): Deadline<'agent'>[] {
    const times = [this.#tellAtMs, this.#deliveries?.nextMs ?? null];
    return times.flatMap((atMs) => (atMs === null ? [] : [{ name: 'agent', atMs }]));
  }

  /** Stores and tells nothing from now on: the conversation is deleted. */
  stop(): void {
    this.#isStopped = true;
    this.#deliveries?.stop();
  }

  /** The events for the webhook, the newest first. */
  deliveries(): WebhookDelivery[] {
    return this.#deliveries?.list() ?? [];
  }

  /** The agent as a client sees it. Only the client that made it gets the webhook's secret. */
  describe(withSecret = false): AgentView {
    const { log, reader, listing } = this.#deps;
    const { id, title, created, bridge: bridgeId } = listing.row;
    const run = log.find(log.newest);
    if (!run) throw new Error('an agent begins with a message');
    const response = reader.response(run);
    const { model, mode, usage } = response;
    const { webhook } = this.#row.settings;
    const updated = new Date(reader.answeredMs()).toISOString();
    return {
      ...{ id, title, status: this.status, created, updated, bridgeId },
      ...{ responseId: responseIdOf(id, run.ordinal), model, mode, usage },
      ...outcomeOf(response),
      ...(webhook && { webhook: shown(webhook, withSecret) }),
    };
  }

  #deliver(status: AgentStatus): void {
    const { webhook } = this.#row.settings;
    const type = WebhookEvent.shape.type.safeParse(`agent.${status}`).data;
    if (!type || !webhook || webhook.isGone) return;
    const { id, title, responseId, error } = this.describe();
    const data = { id, title, status, responseId, ...(error && { error }) };
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

  /** Tells the account until it has the present status. */
  async #tell(): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    this.#tellAtMs = null;
    try {
      while (this.#row.told !== this.#row.status && !this.#isStopped) {
        const { status } = this.#row;
        await this.#deps.publish();
        if (!this.#isStopped) this.#save({ ...this.#row, told: status });
      }
    } catch {
      // The account's object was reset.
      this.#tellAtMs = Date.now() + STATUS_LIMITS.tellAgainMs;
      await this.#deps.arm().catch(() => undefined);
    } finally {
      this.#isTelling = false;
    }
  }
}

/** The row of an agent that begins. */
export function newAgentRow({ webhook }: AgentWishes): AgentRow {
  const settings = webhook
    ? { webhook: { url: webhook.url, secret: webhook.secret ?? newWebhookSecret() } }
    : {};
  return { settings, status: 'queued', told: null };
}

function shown({ url, secret, isGone }: AgentWebhook, withSecret: boolean): AgentView['webhook'] {
  return { url, state: isGone ? 'gone' : 'active', ...(withSecret && { secret }) };
}

/** What the model said last, and why it failed. */
function outcomeOf({ status, documents }: ChatResponse): Pick<AgentView, 'result' | 'error'> {
  if (status !== 'completed' && status !== 'error' && status !== 'cancelled') {
    return { result: null };
  }
  const said = documents.findLast(
    ({ type, metadata }) => type === 'text' && metadata['interrupted'] !== true,
  );
  const result = said?.content?.slice(0, STATUS_LIMITS.maxResultChars).toWellFormed() ?? null;
  const failure = status === 'error' ? documents.findLast(({ type }) => type === 'error') : null;
  if (!failure) return { result };
  const code = String(failure.metadata['errorCode']);
  return { result, error: { code, message: failure.content ?? '' } };
}
