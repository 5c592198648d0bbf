/** What clients send: bodies and queries of the HTTP API, parsed once and then trusted. */
import * as z from 'zod';
import { BridgeId, ConversationId, ResponseId } from './ids.ts';
import { REQUEST_LIMITS } from './limits.ts';
import { Mode } from './modes.ts';
import { askQuestion } from './tools/ask-question.ts';
import { createPlan } from './tools/create-plan.ts';
import { ToolRegistry, ToolSelection, toolRegistry, toolSelection } from './tools/selection.ts';
import { ApprovalAnswer } from './tunnel.ts';

const Name = z.string().min(1).max(REQUEST_LIMITS.maxNameChars);

const TextPart = z.strictObject({ type: z.literal('text'), text: z.string() });

/** An image the model can fetch (https) or that is carried along (base64), in OpenAI's form. */
const ImagePart = z.strictObject({
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

const ContentPart = z.discriminatedUnion('type', [TextPart, ImagePart]);
export type ContentPart = z.infer<typeof ContentPart>;

/** What a message says: text, or text and images in their order. */
export type MessageContent = string | ContentPart[];

/** A string, or OpenAI's list of parts; a list without images becomes the string that its texts join to. */
const MessageContent = z
  .union([z.string(), z.array(ContentPart).max(REQUEST_LIMITS.maxContentParts)])
  .transform(
    (content): MessageContent =>
      typeof content === 'string' || content.some(isImage) ? content : textOf(content),
  )
  .refine((content) => textOf(content).length <= REQUEST_LIMITS.maxMessageChars, {
    message: `A message may hold ${REQUEST_LIMITS.maxMessageChars} characters of text`,
  });

/** What a message says, without its images. */
export function textOf(content: MessageContent): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
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
    message: 'Only messages of the role user may hold images',
    path: ['content'],
  });
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

const LinterError = z.strictObject({
  path: ContextText,
  line: LineNumber.optional(),
  column: LineNumber.optional(),
  /** Without it `error`. */
  severity: z.enum(['error', 'warning', 'information', 'hint']).optional(),
  message: ContextText,
  /** The linter, and its rule. */
  source: Name.optional(),
});

/** The path alone, or with what the editor shows, saved or not. */
const OpenFile = z.union([
  ContextText,
  z.strictObject({ path: ContextText, content: ContextText.optional() }),
]);

export const RequestContext = z.strictObject({
  /** The folder that the client has open. Tools work in the bridge's, whatever this says. */
  workspacePath: ContextText.optional(),
  openFiles: z.array(OpenFile).max(REQUEST_LIMITS.maxContextEntries).optional(),
  recentFiles: z.array(ContextText).max(REQUEST_LIMITS.maxContextEntries).optional(),
  cursor: EditorCursor.optional(),
  linterErrors: z.array(LinterError).max(REQUEST_LIMITS.maxContextEntries).optional(),
  projectLayout: ContextText.optional(),
  rules: z.array(ContextText).max(REQUEST_LIMITS.maxContextEntries).optional(),
});
export type RequestContext = z.infer<typeof RequestContext>;

/** Named events (`event: document_start`), or unnamed ones with the type inside `data`. */
export const Framing = z.enum(['named', 'data']);
export type Framing = z.infer<typeof Framing>;

/**
 * While a conversation is busy a message waits for its turn (`queue`), is refused with CONVERSATION_BUSY (`reject`), is
 * told to the run at work before its next request to the model (`steer`), or ends that run and then waits (`interrupt`).
 */
export const Delivery = z.enum(['queue', 'reject', 'steer', 'interrupt']);
export type Delivery = z.infer<typeof Delivery>;

/** Strict, as all bodies are: a limit under a misspelt name would not hold, and nobody would know. */
export const ChatFields = z.strictObject({
  /** Any name that the upstream knows; without it the configured default answers. */
  model: Name.optional(),
  /** Without it `agent`. */
  mode: Mode.optional(),
  messages: Messages,
  /** The messages are appended to this conversation; without it they begin a new one. */
  conversationId: ConversationId.optional(),
  /** The bridge of a new conversation; without it the account's bridge that connected last. */
  bridgeId: BridgeId.optional(),
  context: RequestContext.optional(),
  /** Only these tools are on offer; without it all that the mode allows. */
  tools: ToolSelection.optional(),
  /** The same as settings by name; not together with `tools`. */
  availableTools: ToolRegistry.optional(),
  /** These three are told to the model server; what they do there is its own affair. */
  temperature: z.number().min(0).max(REQUEST_LIMITS.maxTemperature).optional(),
  /** Tokens of one request to the model at most; never more than the table of models allows. */
  maxTokens: z.int().positive().optional(),
  /** Whose message this is, under a name that stays the same. */
  user: Name.optional(),
  /** `plain`: each document's metadata stands beside its id, and a tool's result is its text. */
  documents: z.enum(['full', 'plain']).optional(),
  /** What the answer shows beyond its documents: `reasoning` for what the model thought, where it tells. */
  include: z
    .array(z.enum(['reasoning']))
    .max(1)
    .optional(),
  /**
   * Sends an edited message again: a new conversation begins with everything before this response's message. Not
   * together with `conversationId` or `bridgeId`: both follow from the response.
   */
  editOf: ResponseId.optional(),
  /** What becomes of the message while the conversation is busy. */
  delivery: Delivery.default('queue'),
  /** Shown to other devices beside the message. */
  device: Name.optional(),
  stream: z.boolean().default(false),
  stream_options: z.strictObject({ framing: Framing.default('named') }).optional(),
});

/** What the model server is told beside the messages. */
export type Sampling = Pick<z.output<typeof ChatFields>, 'temperature' | 'maxTokens' | 'user'>;

const PLANNING = [createPlan.name, askQuestion.name];

/** `POST /api/v1/chat/completions`. */
export const ChatRequest = ChatFields.superRefine(refuseTwoPlaces).transform(toOneSelection);
export type ChatRequest = z.infer<typeof ChatRequest>;

/**
 * `POST /api/v1/chat/plan`: a {@link ChatRequest} whose mode is `plan`, whatever it names. A list of tools leaves those on
 * offer that planning needs.
 */
export const PlanRequest = ChatFields.extend({
  mode: Mode.default('plan').transform((): Mode => 'plan'),
  tools: toolSelection(PLANNING).optional(),
  availableTools: toolRegistry(PLANNING).optional(),
})
  .superRefine(refuseTwoPlaces)
  .transform(toOneSelection);

type Fields = z.output<typeof ChatFields>;

function toOneSelection({ availableTools, ...request }: Fields) {
  return availableTools ? { ...request, tools: availableTools } : request;
}

/** One thing in two fields would leave open which of them holds. */
function refuseTwoPlaces(
  { editOf, conversationId, bridgeId, tools, availableTools, ...form }: Fields,
  context: z.RefinementCtx,
): void {
  if (form.documents === 'plain' && form.stream_options?.framing === 'named') {
    const message = 'A stream has plain documents in the framing data: leave this out';
    context.addIssue({ code: 'custom', path: ['stream_options', 'framing'], message });
  }
  if (tools && availableTools) {
    const message = 'Leave it out: tools stands beside it';
    context.addIssue({ code: 'custom', path: ['availableTools'], message });
  }
  if (editOf === undefined) return;
  const message = 'Leave it out: it follows from editOf';
  if (conversationId) context.addIssue({ code: 'custom', path: ['conversationId'], message });
  if (bridgeId) context.addIssue({ code: 'custom', path: ['bridgeId'], message });
}

/** `PATCH /api/v1/chat/completions/{id}`: what a message that still waits says instead. */
export const MessagePatch = z.strictObject({
  content: MessageContent.refine(
    (content) => typeof content !== 'string' || content.trim() !== '',
    {
      message: 'A message must not be empty',
    },
  ),
});
export type MessagePatch = z.infer<typeof MessagePatch>;

/** The header of that name: visible ASCII, as the IETF's draft has it. */
export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'Idempotency-Key takes 1 to 200 visible ASCII characters');

/**
 * `POST /api/v1/conversations/{id}/clarifications/{documentId}`. Questions without an answer are passed over; an empty
 * list passes over all.
 */
export const ClarificationAnswer = z.strictObject({
  /** Whose document it is: an answer that comes too late is then never taken for one to a later response. */
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
export type ClarificationAnswer = z.infer<typeof ClarificationAnswer>;

/** `POST /api/v1/conversations/{id}/approvals/{callId}`: an {@link ApprovalAnswer} whose call is named by the path. */
export const ApprovalRequest = ApprovalAnswer.omit({ callId: true }).strict();
export type ApprovalRequest = z.infer<typeof ApprovalRequest>;

/** A position on the tape as a client gives it back: digits only, no larger than a safe integer. */
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
