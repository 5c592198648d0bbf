/**
 * The members that every answer and every event must have. Schemas of zod would be most of a web page's script, so the
 * client checks what distinguishes one answer from another and what the fold reads. It takes the rest at its word.
 * The members are chosen here and not derived from the schemas: an older server's answers lack the newest members.
 * {@link Shape} holds each choice to its schema.
 */
import type { AccountEvent } from '../shared/api/account-events.ts';
import type { Agent, AgentInfo, AgentList, WebhookDeliveries } from '../shared/api/agents.ts';
import type { Cancelled, MessageImages } from '../shared/api/answers.ts';
import type {
  ConversationExport,
  ConversationInfo,
  ConversationList,
  Forked,
  Ticket,
} from '../shared/api/conversations.ts';
import type {
  ApprovalList,
  BridgeDetails,
  BridgeInfo,
  BridgeList,
  Me,
  ModelList,
  ToolList,
} from '../shared/api/listings.ts';
import type { PushState } from '../shared/api/push.ts';
import type { Login, NewSession, SessionToken } from '../shared/api/sessions.ts';
import { eventOfNamed } from '../shared/api/sse.ts';
import type { UsageList } from '../shared/api/usage.ts';
import type {
  ChatResponse,
  ConversationView,
  Document,
  UserMessage,
} from '../shared/wire/documents.ts';
import type { ReadEvent, StreamEvent, UnknownEvent } from '../shared/wire/events.ts';
import type { FoundFiles } from '../shared/wire/files.ts';
import type { Plan } from '../shared/wire/plans.ts';
import type { MachinePolicy } from '../shared/wire/policy.ts';
import type { ProcessInfo, ProcessList } from '../shared/wire/processes.ts';
import type { RuleReports } from '../shared/wire/rules.ts';

/**
 * The types of members that every `T` has. A member that is optional, may be null or is missing in an arm of a union
 * cannot be named: the guard would refuse right answers. A list has the shape of its items.
 */
export type Shape<T> = [T] extends [string]
  ? 'string'
  : [T] extends [number]
    ? 'number'
    : [T] extends [boolean]
      ? 'boolean'
      : [T] extends [readonly (infer Item)[]]
        ? readonly [Shape<Item>]
        : [T] extends [object]
          ? {
              // With `& string`, TypeScript takes a union whole: only names that all arms have.
              readonly [Name in keyof T & string]?: IsOptional<T, Name> extends true
                ? never
                : Shape<T[Name]>;
            }
          : never;

type IsOptional<T, Name extends keyof T> =
  Partial<Pick<T, Name>> extends Pick<T, Name> ? true : false;

export type Guard<T> = (value: unknown) => value is T;

type AnyShape = string | readonly [AnyShape] | { readonly [name: string]: AnyShape | undefined };

/** Checks whether a value has all members of the shape. Other members do not matter. */
export function guard<T>(shape: Shape<T>): Guard<T> {
  return (value): value is T => fits(value, shape as AnyShape);
}

function fits(value: unknown, shape: AnyShape): boolean {
  if (typeof shape === 'string') return typeof value === shape;
  const isList = Array.isArray(value);
  if (Array.isArray(shape)) return isList && value.every((item) => fits(item, shape[0]));
  if (typeof value !== 'object' || value === null || isList) return false;
  return Object.entries(shape).every(
    ([name, member]) => member === undefined || fits(Reflect.get(value, name), member),
  );
}

/** The event of a named frame. An event of another type or form is kept as it came, as `unknown`. */
export function readEvent(name: string, data: unknown): ReadEvent {
  if (name === 'snapshot' && !isSnapshot(data)) return { type: 'unknown', name, data };
  return eventIn(EVENTS, name, data);
}

/** {@link readEvent} for the stream of an account. */
export function readAccountEvent(name: string, data: unknown): AccountEvent | UnknownEvent {
  return eventIn(ACCOUNT_EVENTS, name, data);
}

function eventIn<Event extends TypedShape<string>>(
  shapes: Shapes<Event>,
  name: string,
  data: unknown,
): Event | UnknownEvent {
  const event = eventOfNamed(name, data);
  const shape = Object.hasOwn(shapes, name) ? shapes[name as Event['type']] : undefined;
  return shape && fits(event, shape as AnyShape)
    ? (event as Event)
    : { type: 'unknown', name, data };
}

/** The shape of each event, by its type. */
type Shapes<Event extends TypedShape<string>> = {
  readonly [Type in Event['type']]: Shape<Extract<Event, TypedShape<Type>>>;
};

function isSnapshot(data: unknown): boolean {
  const { scope, response, conversation } = Object(data);
  return scope === 'response'
    ? isAnswer.chatResponse(response)
    : isAnswer.conversationView(conversation);
}

const DOCUMENT: Shape<Document> = {
  id: 'string',
  type: 'string',
  sequence: 'number',
  metadata: {},
};
const MESSAGE: Shape<UserMessage> = { responseId: 'string', content: 'string', created: 'string' };
const RESPONSE: Shape<ChatResponse> = {
  id: 'string',
  conversationId: 'string',
  status: 'string',
  documents: [DOCUMENT],
  metadata: {},
};
const WHOLE: Shape<ConversationExport['conversation']> = {
  id: 'string',
  title: 'string',
  messages: [MESSAGE],
  responses: [RESPONSE],
};
const VIEW: Shape<ConversationView> = { ...WHOLE, position: 'number' };
const INFO: Shape<ConversationInfo> = { id: 'string', title: 'string', updated: 'string' };
const AGENT: Shape<AgentInfo> = { ...INFO, status: 'string' };
const BRIDGE: Shape<BridgeInfo> = { id: 'string', connected: 'boolean', workspacePath: 'string' };

const PROCESS: Shape<ProcessInfo> = { id: 'string', command: 'string', running: 'boolean' };

/** Whether a value is this answer of the API. */
export const isAnswer = {
  chatResponse: guard<ChatResponse>(RESPONSE),
  conversationView: guard<ConversationView>(VIEW),
  conversationInfo: guard<ConversationInfo>(INFO),
  conversationList: guard<ConversationList>({ items: [INFO] }),
  conversationExport: guard<ConversationExport>({ version: 'number', conversation: WHOLE }),
  forked: guard<Forked>({ conversationId: 'string' }),
  ticket: guard<Ticket>({ ticket: 'string' }),
  me: guard<Me>({ account: 'string' }),
  models: guard<ModelList>({ items: [{ id: 'string' }], passesThrough: 'boolean' }),
  tools: guard<ToolList>({ items: [{ name: 'string', description: 'string' }] }),
  usage: guard<UsageList>({
    from: 'string',
    to: 'string',
    items: [{ day: 'string', model: 'string', totalTokens: 'number', costs: [{}] }],
  }),
  bridge: guard<BridgeDetails>({
    ...BRIDGE,
    mcpServers: [{ name: 'string', state: 'string' }],
    definitions: {},
    skills: [{ name: 'string', callers: 'string' }],
  }),
  process: guard<ProcessInfo>(PROCESS),
  files: guard<FoundFiles>({ items: [{ path: 'string', type: 'string' }] }),
  policy: guard<MachinePolicy>({
    rules: [
      { id: 'string', scope: 'string', decision: 'string', tool: 'string', pattern: 'string' },
    ],
    ruleCount: 'number',
    grants: [{ name: 'string', preset: 'string', since: 'string' }],
    problems: ['string'],
  }),
  processes: guard<ProcessList>({ items: [PROCESS] }),
  bridges: guard<BridgeList>({ items: [BRIDGE] }),
  rules: guard<RuleReports>({ rules: [{ name: 'string', state: 'string' }] }),
  plan: guard<Plan>({ documentId: 'string', version: 'number' }),
  login: guard<Login>({
    secret: 'string',
    code: 'string',
    expires: 'string',
    intervalSeconds: 'number',
  }),
  newSession: guard<NewSession>({ session: 'string', account: 'string' }),
  sessionToken: guard<SessionToken>({ token: 'string', expires: 'string' }),
  push: guard<PushState>({ publicKey: 'string' }),
  agent: guard<Agent>({ ...AGENT, responseId: 'string' }),
  agents: guard<AgentList>({ items: [AGENT] }),
  deliveries: guard<WebhookDeliveries>({ items: [{}] }),
  images: guard<MessageImages>({ items: [{ url: 'string' }] }),
  cancelled: guard<Cancelled>({ id: 'string', status: 'string' }),
  approvals: guard<ApprovalList>({
    items: [{ callId: 'string', nonce: 'string', proposal: {}, conversationId: 'string' }],
  }),
};

const OF_DOCUMENT = { documentId: 'string' } as const;
const OF_RESPONSE = { responseId: 'string' } as const;
const DELTA = { ...OF_DOCUMENT, delta: 'string' } as const;

const EVENTS: Shapes<StreamEvent> = {
  message: { message: MESSAGE },
  message_update: { ...OF_RESPONSE, content: 'string' },
  steered: OF_RESPONSE,
  attached: { ...OF_RESPONSE, attachments: [{ type: 'string', name: 'string' }] },
  response_start: { response: { id: 'string', conversationId: 'string', model: 'string' } },
  response_model: { model: 'string' },
  model_wait: { ...OF_RESPONSE, wait: { reason: 'string', until: 'string' } },
  mode_update: { ...OF_RESPONSE, mode: 'string' },
  context_summary: { ...OF_RESPONSE, status: 'string' },
  budget_near: { ...OF_RESPONSE, budget: {} },
  document_start: { document: { id: 'string', type: 'string', sequence: 'number' } },
  content_delta: DELTA,
  tool_call_start: { ...OF_DOCUMENT, toolName: 'string', toolCallId: 'string' },
  tool_call_arguments: { ...OF_DOCUMENT, arguments: {} },
  tool_output: DELTA,
  tool_result: { ...OF_DOCUMENT, result: { status: 'string' } },
  document_end: OF_DOCUMENT,
  attention: { ...OF_DOCUMENT, items: [{ name: 'string' }] },
  approval_request: {
    ...OF_DOCUMENT,
    callId: 'string',
    bridgeId: 'string',
    nonce: 'string',
    reason: 'string',
    proposal: { kind: 'string', tool: 'string' },
  },
  approval_resolved: { ...OF_DOCUMENT, callId: 'string', decision: 'string', by: 'string' },
  clarification_request: {
    ...OF_DOCUMENT,
    questions: [{ id: 'string', text: 'string', options: [{ id: 'string', label: 'string' }] }],
  },
  client_call: OF_DOCUMENT,
  subagent_update: { ...OF_DOCUMENT, subagent: { status: 'string' } },
  subagent_ask: { ...OF_DOCUMENT, ask: { kind: 'string', conversationId: 'string' } },
  subagent_answered: { ...OF_DOCUMENT, key: 'string' },
  plan_update: { ...OF_RESPONSE, ...OF_DOCUMENT, plan: { content: 'string' } },
  conversation_update: { title: 'string', archived: 'boolean' },
  done: { ...OF_RESPONSE, status: 'string', metadata: {} },
  snapshot: { snapshot: { scope: 'string' } },
  heartbeat: {},
};

const ACCOUNT_EVENTS: Shapes<AccountEvent> = {
  reset: {},
  conversation: {
    conversation: { ...INFO, waiting: { approvals: 'number', questions: 'number' } },
  },
  conversation_deleted: { conversationId: 'string' },
  bridge: { bridge: { id: 'string', connected: 'boolean' } },
  heartbeat: {},
};

interface TypedShape<Type> {
  readonly type: Type;
}
