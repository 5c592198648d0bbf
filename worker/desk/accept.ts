/** Brings a message into its conversation: chooses model and bridge, and makes sure that it is stored only once. */

import { resolveModel, resolveTarget } from '../../packages/model/index.ts';
import { readPromptChanges } from '../../packages/prompt/index.ts';
import type { KeyTerms } from '../../shared/api/keys.ts';
import { type ChatRequest, imagesOf, type OutputForm } from '../../shared/api/requests.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { newConversationId, parseResponseId, responseIdOf } from '../../shared/ids.ts';
import { sha256 } from '../../shared/text/sha256.ts';
import type { ClientTool, ToolDemand } from '../../shared/tools/toolbox.ts';
import { conversationIdOf } from '../../shared/wire/derived-id.ts';
import { Mode } from '../../shared/wire/modes.ts';
import { forkConversation, noteMaking } from '../conversation/fork/fork.ts';
import type {
  Errand,
  RequestFields,
  RunRequest,
  WantedErrand,
} from '../conversation/store/rows.ts';
import { titleOf } from '../conversation/store/title.ts';
import type { Env } from '../env.ts';
import type { WaitingPlace } from '../images/waiting.ts';
import { accountOf, conversationOf, tunnelOf } from '../objects.ts';
import { type Outcome, unwrap } from '../outcome.ts';
import type { AgentWishes, Caller, Submission } from '../ports/conversation.ts';
import type { BridgeState } from '../ports/tunnel.ts';
import { defaultPrivacy } from '../privacy.ts';
import { reach, UNKNOWN } from '../reach.ts';
import { boundBudget, toRunBudget } from './budget.ts';

export interface Sending {
  readonly account: string;
  readonly request: ChatRequest;
  /** What the client asked for, where `request` has more, which may be different in a second attempt. */
  readonly asked?: ChatRequest;
  /** A request with the same key gets the same response, which starts only once. */
  readonly idempotencyKey?: string | undefined;
  /** The trace id of the request that it came with. */
  readonly trace: string;
  /** Until when the stream of the response may last. */
  readonly expiresMs?: number;
  /** The sender's session, whose end cuts that stream. */
  readonly session?: string | undefined;
  /** Where the sender stands: the bridge of a message that names none. */
  readonly bridgeId?: string | undefined;
  /** Where large images of the request wait; undefined without any. */
  readonly images?: WaitingPlace | undefined;
  /** What the sender’s app allows; undefined for a person. */
  readonly terms?: Terms | undefined;
  /** What the response is for, where it does not answer the messages. Absent for an answer. */
  readonly errand?: WantedErrand;
  /** Forks this conversation first, and takes back in its files what `undo` names. */
  readonly forkOf?: RestoredPlace | undefined;
  /** The id of the new conversation, if the client chose it. Needs an `idempotencyKey`. */
  readonly newId?: string | undefined;
  /** Makes the new conversation an agent. */
  readonly agent?: AgentWishes | undefined;
  /** A new conversation for one answer. It is not listed, and deletes itself. */
  readonly ephemeral?: boolean;
  /** The agent may not ask questions, because no client could answer them. */
  readonly unasking?: boolean;
  /** Tools of the app, beside the agent's own. */
  readonly clientTools?: readonly ClientTool[] | undefined;
  readonly demand?: ToolDemand | undefined;
  /** The form of the final answer; absent for text. */
  readonly output?: OutputForm | undefined;
}

type Terms = Pick<KeyTerms, 'models' | 'budget' | 'bridges'>;

/** The errors of a request that begins a response. */
export const SUBMIT_ERRORS = [
  'NOT_FOUND',
  'BRIDGE_NOT_NAMED',
  'UNKNOWN_MODEL',
  'MODEL_NOT_PRIVATE',
  'CONTENT_DELETED',
  'UNKNOWN_MODE',
  'IMAGES_NOT_SUPPORTED',
  'COST_UNKNOWN',
  'CONVERSATION_BUSY',
  'CONVERSATION_FULL',
  'IDEMPOTENCY_CONFLICT',
] as const;

/** A conversation up to the end of a response, and the worktree in which it works. */
interface RestoredPlace {
  readonly from: string;
  readonly ordinal: number;
  readonly worktree: string | null;
}

export interface Submitted {
  readonly caller: Caller;
  readonly responseId: string;
}

/** Stores the message and the run that answers it. @throws NOT_CONFIGURED for settings that allow no answer. */
export async function submitMessage(env: Env, sending: Sending): Promise<Submitted> {
  const { account, idempotencyKey: key } = sending;
  const request = withinTerms(sending.request, sending.terms);
  const model = modelOf(env, request);
  const budget = request.budget && toRunBudget(request.budget, model, env);
  readPromptChanges(env);
  const idempotency = key === undefined ? undefined : { key, digest: await digest(sending) };
  const conversationId = request.conversationId ?? sending.newId ?? (await newIdFor(account, key));
  const { trace, session, expiresMs } = sending;
  const until = expiresMs !== undefined && { expiresMs };
  const caller = { account, conversationId, trace, session, ...until };
  const create = await prepareConversation(env, caller, sending);
  const [errand, planned] = splitErrand(sending.errand);
  const { responseId } = unwrap(
    await submitOnce(env, caller, {
      request: {
        ...runRequestOf(request),
        ...errand,
        ...(sending.forkOf?.worktree && { worktree: sending.forkOf.worktree }),
        model,
        budget,
        idempotency,
        trace: sending.trace,
        clientTools: sending.clientTools,
        demand: sending.demand,
        output: sending.output,
        unasking: sending.unasking || request.questions?.allowed === false,
      },
      device: request.device,
      delivery: request.delivery,
      ownFields: ownFieldsOf(request),
      bridgeId: request.bridgeId,
      standsAt: sending.bridgeId,
      ...planned,
      images: sending.images,
      create,
    }),
  );
  return { caller, responseId };
}

/** Submits the message, and again after a reset where it cannot be stored twice: with a key, or a new conversation. */
async function submitOnce(
  env: Env,
  caller: Caller,
  submission: Submission,
): Promise<Outcome<{ responseId: string }>> {
  const submit = () => conversationOf(env, caller).submit(caller, submission);
  const { request, create } = submission;
  if (request.idempotency) return await reach(submit);
  if (!create) return await submit();
  // If this gives up, the message may still be stored and answered. A client that asks again gets another conversation.
  const outcome = await reach<Outcome<{ responseId: string }>>(submit, UNKNOWN);
  if (outcome.ok || outcome.code !== 'IDEMPOTENCY_CONFLICT') return outcome;
  return { ok: true, value: { responseId: responseIdOf(caller.conversationId, 1) } };
}

/** Makes a fork if the request edits a message. Returns the settings of a new conversation, or null if it exists. */
async function prepareConversation(
  env: Env,
  caller: Caller,
  sending: Sending,
): Promise<Submission['create']> {
  const { conversationId, editOf, messages } = sending.request;
  if (conversationId !== undefined) return null;
  if (sending.forkOf) {
    const { from, ordinal } = sending.forkOf;
    const source = { from, ordinal, through: true, restores: true };
    await reach(() => forkConversation(env, caller, source));
    return null;
  }
  if (editOf === undefined) {
    const [create] = await Promise.all([openConversation(env, sending), noteMaking(env, caller)]);
    return create;
  }
  const { conversationId: from, ordinal } = parseResponseId(editOf);
  const title = ordinal === 1 ? titleOf(messages.at(-1)?.content ?? '') : undefined;
  await reach(() => forkConversation(env, caller, { from, ordinal, through: false, title }));
  return null;
}

/** The title and the bridge of a new conversation. Throws NOT_FOUND if the requested bridge does not exist. */
async function openConversation(
  env: Env,
  { account, request, bridgeId: own, terms, agent, ephemeral = false }: Sending,
): Promise<NonNullable<Submission['create']>> {
  const bridges = terms?.bridges ?? [];
  const { bridgeId: asked = own ?? bridges[0], messages } = request;
  const title = agent?.title ?? titleOf(messages.at(-1)?.content ?? '');
  if (asked !== undefined) {
    if (terms && !bridges.includes(asked)) throw noBridge();
    const describe = () => tunnelOf(env, asked).describe(account);
    if (!(await reach<object | null>(describe))) throw noBridge();
  }
  const isTitled = agent?.title !== undefined;
  const bridgeId = asked ?? (await onlyBridge(env, account));
  const { deleteAfterHours = await defaultPrivacy(env, account) } = request;
  const workspace = agent?.workspace ?? (bridgeId === null ? 'in_place' : 'worktree');
  const settled = { bridgeId, title, ephemeral, deleteAfterHours, isTitled };
  return { ...settled, agent: agent && { ...agent, workspace } };
}

/** The account's only bridge, else null: of several, the message could reach files that it is not about. */
async function onlyBridge(env: Env, account: string): Promise<string | null> {
  const known = await reach(() => accountOf(env, account).bridges());
  const states = known.map(({ id }) =>
    reach<BridgeState | null>(() => tunnelOf(env, id).status(account)),
  );
  const [first, ...others] = (await Promise.all(states)).filter((each) => each && !each.shared);
  if (others.length === 0) return first?.id ?? null;
  throw new DrawbridgeError(
    'BRIDGE_NOT_NAMED',
    'bridgeId: this account has several bridges: name one, or use a token that names one, such as `drawbridge token` prints in the folder of a bridge',
  );
}

function noBridge(): DrawbridgeError {
  return new DrawbridgeError('NOT_FOUND', 'bridgeId: there is no such bridge');
}

/** The errand as a conversation takes it: it makes that of one of its own plans itself. */
function splitErrand(
  errand: WantedErrand = { type: 'message' },
): [Errand, Pick<Submission, 'plan' | 'saveAs'>] {
  switch (errand.type) {
    case 'plan':
      return [{ type: 'message' }, { plan: errand.named }];
    case 'save':
      return [{ type: 'message' }, { plan: errand.named, saveAs: errand.as }];
    default:
      return [errand, {}];
  }
}

function runRequestOf(request: ChatRequest): Omit<RequestFields, 'model'> {
  const { messages, tools, context, include, questions: asking } = request;
  const { temperature, topP, stop, seed, parallelToolCalls, maxTokens, user } = request;
  const sampling = { temperature, topP, stop, seed, parallelToolCalls, maxTokens, user };
  const withReasoning = include?.includes('reasoning') ?? false;
  const questions = asking && { afterSeconds: asking.afterSeconds, otherwise: asking.otherwise };
  return {
    ...modeOf(request),
    messages,
    tools,
    context,
    sampling,
    withReasoning,
    questions,
    createdMs: Date.now(),
  };
}

/** A mode of the workspace is looked up when the run starts. Until then the run may change nothing. */
function modeOf({
  mode: name = 'agent',
  model,
}: ChatRequest): Pick<RunRequest, 'mode' | 'wantedMode'> {
  const mode = Mode.safeParse(name).data;
  return mode ? { mode } : { mode: 'ask', wantedMode: { name, isModelOpen: model === undefined } };
}

/** The fields of the request that only the message's own run can follow. */
function ownFieldsOf(request: ChatRequest): string[] {
  const named = Object.keys(FIELDS) as (keyof ChatRequest)[];
  const fields = named.filter((field) => FIELDS[field] === 'own' && request[field] !== undefined);
  return request.messages.length > 1 ? [...fields, 'messages'] : fields;
}

/**
 * `own`: only the message's own run can follow it. `any`: it holds for a message that steers another run, too. The order
 * is that in which they are refused.
 */
const FIELDS: Readonly<Record<keyof ChatRequest, 'own' | 'any'>> = {
  mode: 'own',
  model: 'own',
  tools: 'own',
  context: 'own',
  include: 'own',
  questions: 'own',
  budget: 'own',
  temperature: 'own',
  maxTokens: 'own',
  user: 'own',
  topP: 'own',
  stop: 'own',
  seed: 'own',
  parallelToolCalls: 'own',
  messages: 'any', // Several of them are `own`.
  conversationId: 'any',
  bridgeId: 'any',
  deleteAfterHours: 'any',
  editOf: 'any',
  delivery: 'any',
  device: 'any',
  documents: 'any',
  stream: 'any',
  stream_options: 'any',
};

/** @throws {DrawbridgeError} UNKNOWN_MODEL for a model that the app does not allow. */
function withinTerms(request: ChatRequest, terms: Terms | undefined): ChatRequest {
  if (!terms) return request;
  const { models, budget } = terms;
  const { model = models[0] } = request;
  if (model !== undefined && models.length > 0 && !models.includes(model)) {
    throw new DrawbridgeError(
      'UNKNOWN_MODEL',
      `model: this app allows ${models.join(', ')}: name one of them, or none`,
    );
  }
  return { ...request, model, budget: boundBudget(request.budget, budget) };
}

function modelOf(env: Env, { model: requested, messages }: ChatRequest): string {
  const model = resolveModel(requested, env);
  // Images of earlier messages become notes: a chat that has any can go on.
  const holdsImages = imagesOf(messages.at(-1)?.content ?? '').length > 0;
  if (!holdsImages || resolveTarget(model, env).takesImages) return model;
  throw new DrawbridgeError(
    'IMAGES_NOT_SUPPORTED',
    `messages: the model ${model} takes no images: leave them out, or name another model`,
  );
}

/** The id of a new conversation. A request with a key finds the one that it began before. */
export async function newIdFor(account: string, key: string | undefined): Promise<string> {
  if (key === undefined) return newConversationId(crypto.randomUUID());
  return await conversationIdOf(account, key);
}

/**
 * The digest of a request and its errand, without the fields that only decide the form of the answer. Stored keys have
 * it: another form of it would be another request.
 */
function digest({ request, asked, errand, agent }: Sending): Promise<string> {
  const { stream: _, stream_options: __, documents: ___, ...sent } = asked ?? request;
  return sha256(JSON.stringify({ ...sent, ...digestedOf(errand), agent }));
}

/** In the order in which they were always written. */
function digestedOf(errand: WantedErrand | undefined): object {
  switch (errand?.type) {
    case 'plan':
      return { plan: errand.named };
    case 'save':
      return { plan: errand.named, saveAs: errand.as };
    case 'plan_file':
      return { planFile: errand.planFile };
    case 'undo':
      return { undo: errand.undo };
    case 'compact':
      return { compact: errand.compact };
    case 'message':
    case 'subagent':
    case 'guest':
    case undefined:
      return {};
    default:
      return errand satisfies never;
  }
}
