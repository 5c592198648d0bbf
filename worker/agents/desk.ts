/** What clients do with agents, for each form of the API: create, read, follow up, stop, archive. */
import type {
  Agent,
  AgentFollowUp,
  AgentRequest,
  WebhookDeliveries,
  WebhookDelivery,
} from '../../shared/api/agents.ts';
import type { ChatRequest } from '../../shared/api/requests.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { reachOf } from '../deliveries/address.ts';
import { type Sending, type Submitted, submitMessage } from '../desk/accept.ts';
import type { Env } from '../env.ts';
import { conversationOf } from '../objects.ts';
import { type Outcome, unwrap } from '../outcome.ts';
import type { Caller } from '../ports/conversation.ts';
import { reach } from '../reach.ts';

/** How a message came, and from whom. */
type SentTask = Omit<Sending, 'request'>;

/**
 * Begins an agent, with the id `newId` if there is one. Throws AGENT_ID_CONFLICT, WEBHOOK_NOT_ALLOWED,
 * WORKTREES_NOT_SUPPORTED, and like {@link submitMessage}.
 */
export async function createAgent(
  env: Env,
  { prompt, title, webhook, workspace, branch, base, commit, ...settings }: AgentRequest,
  sent: SentTask,
  newId?: string,
): Promise<Agent> {
  if (webhook) reachOf(webhook.url, env, 'webhook.url');
  const request = { ...saying(prompt), ...settings };
  // Without a key, a repeat after a restart would take another client's agent for its own.
  const idempotencyKey = sent.idempotencyKey ?? (newId && crypto.randomUUID());
  const { caller } = await submitMessage(env, {
    request,
    ...sent,
    idempotencyKey,
    newId,
    agent: { title, webhook, workspace, branch, base, commit },
  }).catch((error) => {
    throw newId && isTaken(error) ? idTaken() : error;
  });
  return await readAgent(env, caller, true);
}

/** The conversation with this id began otherwise, or belongs to another account. */
function isTaken(error: unknown): boolean {
  if (!(error instanceof DrawbridgeError)) return false;
  return error.code === 'IDEMPOTENCY_CONFLICT' || error.code === 'NOT_FOUND';
}

function idTaken(): DrawbridgeError {
  return new DrawbridgeError(
    'AGENT_ID_CONFLICT',
    'agentId: there is such an agent: choose another',
  );
}

/** Sends the agent a message. Throws NOT_FOUND, AGENT_ARCHIVED, and like {@link submitMessage}. */
export async function followUp(
  env: Env,
  caller: Caller,
  { prompt, ...settings }: AgentFollowUp,
  sent: SentTask,
): Promise<Submitted> {
  const { status, model, mode, ownMode, tools } = await readAgent(env, caller);
  if (status === 'archived') {
    throw new DrawbridgeError('AGENT_ARCHIVED', 'The agent is archived: unarchive it first');
  }
  const { conversationId } = caller;
  // A message that steers keeps the settings of its response.
  const before =
    settings.delivery === 'steer'
      ? {}
      : {
          model: settings.model ?? model,
          mode: settings.mode ?? ownMode ?? mode,
          tools: settings.tools ?? tools,
        };
  const asked = { ...saying(prompt), ...settings, conversationId };
  const request = { ...asked, ...before };
  return await submitMessage(env, { request, asked, ...sent });
}

function saying(content: AgentRequest['prompt']) {
  const messages: ChatRequest['messages'] = [{ role: 'user', content }];
  return { messages, delivery: 'queue', stream: false } as const;
}

/** Throws NOT_FOUND if the conversation does not exist or is no agent. */
export async function readAgent(env: Env, caller: Caller, withSecret = false): Promise<Agent> {
  const read = () => conversationOf(env, caller).agent(caller, withSecret);
  return unwrap<Agent>(await reach<Outcome<Agent>>(read));
}

/** The events for the agent's webhook, the newest first. Throws NOT_FOUND. */
export async function readDeliveries(env: Env, caller: Caller): Promise<WebhookDeliveries> {
  const read = () => conversationOf(env, caller).deliveries(caller);
  return { items: unwrap<WebhookDelivery[]>(await reach<Outcome<WebhookDelivery[]>>(read)) };
}

/** Ends all responses of the agent. Throws NOT_FOUND. */
export async function stopAgent(env: Env, caller: Caller): Promise<Agent> {
  unwrap(await reach(() => conversationOf(env, caller).stopAgent(caller)));
  return await readAgent(env, caller);
}

/** Stops the agent and puts it away, or brings it back. Throws NOT_FOUND. */
export async function archiveAgent(env: Env, caller: Caller, archived: boolean): Promise<Agent> {
  await (archived ? stopAgent(env, caller) : readAgent(env, caller));
  unwrap(await reach(() => conversationOf(env, caller).update(caller, { archived })));
  return await readAgent(env, caller);
}
