/** The bodies and queries that clients send to the HTTP API, parsed once and then trusted. */
import * as z from 'zod';
import { BridgeId, CallId, ConversationId, ResponseId } from '../ids.ts';
import { MENTION_LIMITS, PRIVACY_LIMITS, REQUEST_LIMITS, RUN_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { pathOfFileUri } from '../text/file-uri.ts';
import { joinText } from '../text/mention-text.ts';
import {
  findCalled,
  findMentions,
  type Mention,
  PathMention,
  type PlaceMention,
  UrlMention,
} from '../text/mentions.ts';
import { askQuestion } from '../tools/ask-question.ts';
import { createPlan } from '../tools/create-plan.ts';
import { ToolRegistry, ToolSelection, toolRegistry, toolSelection } from '../tools/selection.ts';
import { todoWrite } from '../tools/todo-write.ts';
import { Budget } from '../wire/budget.ts';
import { ModeName } from '../wire/definitions.ts';
import type { Mode } from '../wire/modes.ts';
import { PlanSlug } from '../wire/plan-file.ts';
import { ApprovalAnswer } from '../wire/tunnel.ts';
import { UndoFields } from '../wire/undo.ts';

const Name = z.string().min(1).max(REQUEST_LIMITS.maxNameChars);

const TextPart = z.strictObject({ type: z.literal('text'), text: z.string() });

/** An image in OpenAI's form: the model fetches it (https), or the message contains it (base64). */
export const ImagePart = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({
    url: z
      .string()
      .regex(
        /^(https:\/\/[^\s]+|data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2})$/,
        'An image is an https URL, or data:image/(png|jpeg|webp|gif);base64,…',
      ),
    detail: z.enum(['auto', 'low', 'high']).exactOptional(),
  }),
});
export type ImagePart = z.infer<typeof ImagePart>;

/** Places that a client hands over as what they are. In a text, a name with blanks or brackets could be misread. */
const PathPart = z
  .strictObject({
    type: z.literal('path'),
    path: PathMention.shape.path,
    lines: PathMention.shape.lines,
  })
  .refine(({ lines }) => !lines || lines.from <= lines.to, {
    message: 'The first line must not be behind the last',
    path: ['lines'],
  });
const UrlPart = z.strictObject(UrlMention.shape);

/** A part of a message. */
export const ContentPart = z.discriminatedUnion('type', [TextPart, ImagePart, PathPart, UrlPart]);
export type ContentPart = z.infer<typeof ContentPart>;

/** The content of a message: text, or text, images and named places in order. */
export type MessageContent = string | ContentPart[];

/** A string, or OpenAI's list of parts, and ours. The texts of a list of texts are joined to a string. */
const MessageContent = z
  .union([z.string(), z.array(ContentPart).max(REQUEST_LIMITS.maxContentParts)])
  .transform(
    (content): MessageContent =>
      typeof content === 'string' || content.some(({ type }) => type !== 'text')
        ? content
        : textOf(content),
  )
  .refine((content) => placesIn(content).length <= MENTION_LIMITS.maxMentions, {
    message: `A message may name at most ${MENTION_LIMITS.maxMentions} places: send the others with the next`,
  })
  .refine((content) => textOf(content).length <= REQUEST_LIMITS.maxMessageChars, {
    message: `A message may have at most ${REQUEST_LIMITS.maxMessageChars} characters of text`,
  });

/** The text of a message, without its images. A place stands in it as a person would write it, apart from the words. */
export function textOf(content: MessageContent): string {
  return typeof content === 'string' ? content : joinText(content);
}

/** The places that a message hands over, in their order. Those that its text names are not among them. */
export function placesIn(content: MessageContent): PlaceMention[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part): PlaceMention[] => {
    if (part.type === 'path') return [{ ...part, isCertain: true }];
    return part.type === 'url' ? [part] : [];
  });
}

/** Places that were handed over come before those that the text names, each once. */
export function mentionsIn(content: MessageContent): Mention[] {
  const called = findCalled(textOf(content));
  const places = [...placesIn(content), ...findMentions(typedIn(content))];
  const each = new Map(places.map((place) => [JSON.stringify({ ...place, isCertain: 0 }), place]));
  return [...(called ? [called] : []), ...[...each.values()].slice(0, MENTION_LIMITS.maxMentions)];
}

/** The text without the places beside it, whose names are no words to read. */
function typedIn(content: MessageContent): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : ' ')).join('');
}

export function imagesOf(content: MessageContent): ImagePart[] {
  return typeof content === 'string' ? [] : content.filter(isImage);
}

function isImage(part: ContentPart): part is ImagePart {
  return part.type === 'image_url';
}

export const ChatMessage = z
  .strictObject({ role: z.enum(['system', 'user', 'assistant']), content: MessageContent })
  .refine(({ role, content }) => role === 'user' || typeof content === 'string', {
    message: 'Only messages of the role user may hold more than text',
    path: ['content'],
  });
named.add(ChatMessage, { id: 'ChatMessage' });
export type ChatMessage = z.infer<typeof ChatMessage>;

const Messages = z
  .array(ChatMessage)
  .min(1)
  .max(REQUEST_LIMITS.maxMessages)
  .refine(
    (messages) => messages.at(-1)?.role === 'user',
    'The last message must have the role user',
  )
  .refine((messages) => {
    const content = messages.at(-1)?.content ?? '';
    return typeof content !== 'string' || content.trim() !== '';
  }, 'The last message must not be empty');

const ContextText = z.string().max(REQUEST_LIMITS.maxContextChars);

/** Counted from 1, as editors show them. */
const LineNumber = z.int().positive();

const EditorCursor = z.strictObject({
  path: ContextText,
  line: LineNumber,
  column: LineNumber.optional(),
});

/** An empty text: nothing is selected. */
const Selection = z.strictObject({
  path: ContextText,
  /** Of its start. */
  line: LineNumber.optional(),
  text: ContextText,
});

const Edit = z.strictObject({ path: ContextText, diff: ContextText.optional() });

const LinterError = z.strictObject({
  path: ContextText,
  line: LineNumber.optional(),
  column: LineNumber.optional(),
  /** Absent: `error`. */
  severity: z.enum(['error', 'warning', 'information', 'hint']).optional(),
  message: ContextText,
  /** The linter and its rule. */
  source: Name.optional(),
});

/** The path alone, or with the editor's content, saved or not. */
const OpenFile = z.union([
  ContextText,
  z.strictObject({ path: ContextText, content: ContextText.optional() }),
]);

export const RequestContext = z.strictObject({
  /** The folder that the client has open. Tools always work in the bridge's workspace. */
  workspacePath: ContextText.overwrite(pathOfFileUri).optional(),
  openFiles: z.array(OpenFile).max(REQUEST_LIMITS.maxContextEntries).optional(),
  recentFiles: z.array(ContextText).max(REQUEST_LIMITS.maxContextEntries).optional(),
  cursor: EditorCursor.optional(),
  selection: Selection.optional(),
  linterErrors: z.array(LinterError).max(REQUEST_LIMITS.maxContextEntries).optional(),
  projectLayout: ContextText.optional(),
  /** As `git status --short --branch` prints it. */
  gitStatus: ContextText.optional(),
  /** What the user has changed since the last message, the oldest first. */
  editHistory: z.array(Edit).max(REQUEST_LIMITS.maxContextEntries).optional(),
  rules: z.array(ContextText).max(REQUEST_LIMITS.maxContextEntries).optional(),
});
named.add(RequestContext, { id: 'RequestContext' });
export type RequestContext = z.infer<typeof RequestContext>;

/** `named` events (`event: document_start`), or unnamed events with the type inside `data`. */
export const Framing = z.enum(['named', 'data']);
named.add(Framing, { id: 'Framing' });
export type Framing = z.infer<typeof Framing>;

/**
 * What happens to a message while the conversation is busy. `queue`: it waits for its turn. `reject`: the API answers
 * CONVERSATION_BUSY. `steer`: the current run gets it before its next request to the model. `interrupt`: it ends the
 * current run and then waits.
 */
export const Delivery = z.enum(['queue', 'reject', 'steer', 'interrupt']);
export type Delivery = z.infer<typeof Delivery>;

/** Whether the agent may ask the user questions, and what happens without an answer. */
export const QuestionPolicy = z.strictObject({
  /** False: the agent decides everything itself, and cannot ask for another mode. */
  allowed: z.boolean().default(true),
  /** Seconds until a question counts as unanswered. */
  afterSeconds: z
    .int()
    .positive()
    .max(RUN_LIMITS.approvalMs / 1000)
    .default(RUN_LIMITS.approvalMs / 1000),
  /** `default`: each question gets its first option. `stop`: the run ends with QUESTIONS_UNANSWERED. */
  otherwise: z.enum(['default', 'stop']).optional(),
});
export type QuestionPolicy = z.infer<typeof QuestionPolicy>;

/** Hours from the last answer to the deletion of a private conversation's text; null: it is not private. */
export const DeleteAfterHours = z.int().min(0).max(PRIVACY_LIMITS.maxHours).nullable();

/** Strict, like all bodies: a limit with a misspelt name would have no effect, and the client would not notice. */
export const ChatFields = z.strictObject({
  /** Any name that the model server knows. Absent: the configured default answers. */
  model: Name.optional(),
  /** A built-in mode or one of the workspace. Absent: `agent`. */
  mode: ModeName.optional(),
  messages: Messages,
  /** The conversation that gets the messages. Absent: a new one. */
  conversationId: ConversationId.optional(),
  /** The bridge of a new conversation. Absent: the bridge that the token names, or the account's only one. */
  bridgeId: BridgeId.optional(),
  /** Makes a new conversation private. Absent: the account's default. A conversation keeps what it began with. */
  deleteAfterHours: DeleteAfterHours.optional(),
  context: RequestContext.optional(),
  /** The run has only these tools. Absent: all tools that the mode allows. */
  tools: ToolSelection.optional(),
  /** The same as settings by name. Not together with `tools`. */
  availableTools: ToolRegistry.optional(),
  /** The response ends with an error before a request to the model once it has spent this. */
  budget: Budget.optional(),
  /** The model server gets this field and the next ones up to `user`, and decides what they mean. */
  temperature: z.number().min(0).max(REQUEST_LIMITS.maxTemperature).optional(),
  /** The most tokens of one answer of the model; never more than the table of models allows. */
  maxTokens: z.int().positive().optional(),
  topP: z.number().min(0).max(1).optional(),
  /** The model stops before it would write one of these texts. */
  stop: z
    .array(z.string().min(1).max(REQUEST_LIMITS.maxStopChars))
    .min(1)
    .max(REQUEST_LIMITS.maxStops)
    .optional(),
  seed: z.int().optional(),
  /** False: of the calls of one answer the first one alone counts. */
  parallelToolCalls: z.boolean().optional(),
  /** A stable name of the person who sends the message. */
  user: Name.optional(),
  /** `plain`: each document's metadata is beside its id, and a tool's result is its text. */
  documents: z.enum(['full', 'plain']).optional(),
  /** Documents to add to the answer. `reasoning`: the model's reasoning, if the model sends it. */
  include: z
    .array(z.enum(['reasoning']))
    .max(1)
    .optional(),
  /** Sends an edited message again, in a new conversation. Not with `conversationId` or `bridgeId`. */
  editOf: ResponseId.optional(),
  /** Absent: the agent may ask, and goes on by itself without an answer. */
  questions: QuestionPolicy.optional(),
  /** What happens to the message while the conversation is busy. */
  delivery: Delivery.default('queue'),
  /** Shown to other devices beside the message. */
  device: Name.optional(),
  stream: z.boolean().default(false),
  stream_options: z.strictObject({ framing: Framing.default('named') }).optional(),
});

/** What the model server gets in addition to the messages. */
export type Sampling = Pick<
  z.output<typeof ChatFields>,
  'temperature' | 'maxTokens' | 'user' | 'topP' | 'stop' | 'seed' | 'parallelToolCalls'
>;

/** The form of a final answer that must be JSON. Without a schema any object fits. */
export interface OutputForm {
  /** JSON Schema. Its regular expressions are passed over. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

const PLANNING = [createPlan.name, askQuestion.name];
const EXECUTING = [todoWrite.name];

/** `POST /api/v1/chat/completions`. */
export const ChatRequest = ChatFields.superRefine(refuseTwoPlaces).transform(toOneSelection);
named.add(ChatRequest, { id: 'ChatRequest' });
export type ChatRequest = z.infer<typeof ChatRequest>;
/** As a client writes it, with every default left out. */
export type ChatRequestInput = z.input<typeof ChatRequest>;

/** `POST /api/v1/chat/plan`: a {@link ChatRequest} in mode `plan`. The tools that planning needs always stay. */
export const PlanRequest = ChatFields.extend({
  mode: ModeName.default('plan').transform((): Mode => 'plan'),
  tools: toolSelection(PLANNING).optional(),
  availableTools: toolRegistry(PLANNING).optional(),
})
  .superRefine(refuseTwoPlaces)
  .transform(toOneSelection);
named.add(PlanRequest, { id: 'PlanRequest' });

type ChatFieldValues = z.output<typeof ChatFields>;

function toOneSelection({ availableTools, ...request }: ChatFieldValues) {
  return availableTools ? { ...request, tools: availableTools } : request;
}

/** If two fields said the same thing, it would be unclear which one counts. */
function refuseTwoPlaces(
  {
    editOf,
    conversationId,
    bridgeId,
    deleteAfterHours: hours,
    tools,
    availableTools,
    ...form
  }: ChatFieldValues,
  context: z.RefinementCtx,
): void {
  refuseTwoForms(form, context);
  if (tools && availableTools) {
    const message = 'Leave it out: the request has tools too';
    context.addIssue({ code: 'custom', path: ['availableTools'], message });
  }
  if (hours !== undefined && (conversationId ?? editOf) !== undefined) {
    const message = 'Leave it out: a conversation, and a copy of it, keep what it began with';
    context.addIssue({ code: 'custom', path: ['deleteAfterHours'], message });
  }
  if (editOf === undefined) return;
  const message = 'Leave it out: editOf already decides it';
  if (conversationId) context.addIssue({ code: 'custom', path: ['conversationId'], message });
  if (bridgeId) context.addIssue({ code: 'custom', path: ['bridgeId'], message });
}

function refuseTwoForms(
  form: Pick<ChatFieldValues, 'documents' | 'stream_options'>,
  context: z.RefinementCtx,
): void {
  if (form.documents !== 'plain' || form.stream_options?.framing !== 'named') return;
  const message = 'A stream of plain documents has the framing data: leave this out';
  context.addIssue({ code: 'custom', path: ['stream_options', 'framing'], message });
}

/** `PATCH /api/v1/chat/completions/{id}`: the new content of a waiting message. */
export const MessagePatch = z.strictObject({
  content: MessageContent.refine(
    (content) => typeof content !== 'string' || content.trim() !== '',
    {
      message: 'A message must not be empty',
    },
  ),
});
named.add(MessagePatch, { id: 'MessagePatch' });
export type MessagePatch = z.infer<typeof MessagePatch>;
export type MessagePatchInput = z.input<typeof MessagePatch>;

/** The settings of a run that executes a plan. */
const ExecutionFields = ChatFields.omit({
  mode: true,
  messages: true,
  conversationId: true,
  bridgeId: true,
  deleteAfterHours: true,
  tools: true,
  availableTools: true,
  editOf: true,
  delivery: true,
}).extend({
  /** The version that the person saw. Another present version is refused with PLAN_CHANGED. Absent: any. */
  version: z.int().positive().optional(),
  /** The response of the plan: the run then never executes a later plan with the same document id. */
  responseId: ResponseId.optional(),
  /** A mode that may change files. */
  mode: z.enum(['agent', 'debug']).default('agent'),
  tools: toolSelection(EXECUTING).optional(),
});

/** `POST conversations/{id}/plans/{documentId}/execute`: as a {@link ChatRequest}, whose message the edge writes. */
export const PlanExecution = ExecutionFields.superRefine(refuseTwoForms);
named.add(PlanExecution, { id: 'PlanExecution' });
export type PlanExecution = z.infer<typeof PlanExecution>;
export type PlanExecutionInput = z.input<typeof PlanExecution>;

/** `POST /api/v1/chat/plan/execute`: a {@link PlanExecution} of a plan that lies in a file of the workspace. */
export const PlanFileExecution = ExecutionFields.omit({ version: true, responseId: true })
  .extend({
    /** Relative to the workspace. */
    path: z.string().min(1).max(REQUEST_LIMITS.maxPathChars),
    conversationId: ConversationId.optional(),
    bridgeId: BridgeId.optional(),
  })
  .superRefine(refuseTwoForms);
named.add(PlanFileExecution, { id: 'PlanFileExecution' });
export type PlanFileExecution = z.infer<typeof PlanFileExecution>;
export type PlanFileExecutionInput = z.input<typeof PlanFileExecution>;

/** `POST /api/v1/conversations/{id}/plans/{documentId}/save`. */
export const PlanSave = ExecutionFields.pick({
  version: true,
  responseId: true,
  device: true,
  documents: true,
  stream: true,
  stream_options: true,
})
  .extend({
    /** The file is `.cursor/plans/{name}.plan.md`. Absent: made of the title. */
    name: PlanSlug.optional(),
  })
  .superRefine(refuseTwoForms);
named.add(PlanSave, { id: 'PlanSave' });
export type PlanSaveRequestInput = z.input<typeof PlanSave>;

/** `POST /api/v1/conversations/{id}/compact`. */
export const CompactRequest = ExecutionFields.pick({
  model: true,
  device: true,
  documents: true,
  stream: true,
  stream_options: true,
}).superRefine(refuseTwoForms);
named.add(CompactRequest, { id: 'CompactRequest' });
export type CompactRequestInput = z.input<typeof CompactRequest>;

/** `POST /api/v1/conversations/{id}/undo`. */
export const UndoRequest = ExecutionFields.pick({
  device: true,
  documents: true,
  stream: true,
  stream_options: true,
})
  .extend({
    ...UndoFields.shape,
    scope: UndoFields.shape.scope.default('last'),
    /** Whether the response only shows what the undo would do. */
    preview: z.boolean().default(false),
  })
  .superRefine(refuseTwoForms)
  .superRefine(({ scope, id }, context) => {
    const { form, message } = UNDO_IDS[scope];
    if (!form.safeParse(id).success) context.addIssue({ code: 'custom', path: ['id'], message });
  });
named.add(UndoRequest, { id: 'UndoRequest' });
export type UndoRequestInput = z.input<typeof UndoRequest>;

const NO_ID = { form: z.never().optional(), message: 'Leave it out: this scope takes none' };
const OF_RESPONSE = { form: ResponseId, message: 'This scope takes the id of a response' };
const UNDO_IDS = {
  last: NO_ID,
  redo: NO_ID,
  call: { form: CallId, message: 'This scope takes the id of a call' },
  response: OF_RESPONSE,
  since: OF_RESPONSE,
};

/** The header `Idempotency-Key`: visible ASCII, as in the IETF's draft. */
export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'Idempotency-Key takes 1 to 200 visible ASCII characters');

/** `POST conversations/{id}/clarifications/{documentId}`. Questions without an answer are skipped. */
export const ClarificationAnswer = z.strictObject({
  /** The response of the document: a late answer then never counts for a later response. */
  responseId: ResponseId.optional(),
  answers: z
    .array(
      z.strictObject({
        questionId: Name,
        optionIds: z.array(Name).max(REQUEST_LIMITS.maxOptions).default([]),
        text: z.string().max(REQUEST_LIMITS.maxReasonChars).optional(),
      }),
    )
    .max(REQUEST_LIMITS.maxOptions),
});
named.add(ClarificationAnswer, { id: 'ClarificationAnswer' });
export type ClarificationAnswer = z.infer<typeof ClarificationAnswer>;
export type ClarificationAnswerInput = z.input<typeof ClarificationAnswer>;

/** `POST /api/v1/conversations/{id}/approvals/{callId}`: an {@link ApprovalAnswer}; the path names the call. */
export const ApprovalRequest = ApprovalAnswer.omit({ callId: true })
  .strict()
  .refine(({ decision, content }) => content === undefined || decision === 'once', {
    path: ['content'],
    error: 'content goes with the decision "once" only',
  })
  .refine(
    ({ decision, scope, content }) => !scope || (decision === 'once' && content === undefined),
    {
      path: ['scope'],
      error: 'scope goes with the decision "once" and without content',
    },
  )
  .refine(({ scope, pattern }) => (scope === undefined) === (pattern === undefined), {
    path: ['pattern'],
    error: 'pattern goes with scope, and scope with pattern',
  })
  .refine(({ content }) => content?.isWellFormed() !== false, {
    path: ['content'],
    error: 'content holds half of a surrogate pair, which no file can hold',
  });
named.add(ApprovalRequest, { id: 'ApprovalRequest' });
export type ApprovalRequest = z.infer<typeof ApprovalRequest>;

/** A position on the tape that a client sends back: digits only, at most a safe integer. */
export const Cursor = z
  .string()
  .regex(/^\d{1,16}$/, 'A cursor is the id of an event: an integer')
  .transform(Number)
  .refine(Number.isSafeInteger, 'A cursor is the id of an event: a safe integer');

/** `GET .../events`. */
export const EventsQuery = z.object({
  after: Cursor.optional(),
  framing: Framing.default('named'),
});
