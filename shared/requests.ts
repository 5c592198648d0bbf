/** What clients send: bodies and queries of the HTTP API, parsed once and then trusted. */
import { z } from 'zod';
import { BridgeId, ConversationId } from './ids.ts';
import { REQUEST_LIMITS } from './limits.ts';
import { Mode } from './modes.ts';
import { findTool } from './tools/catalogue.ts';
import { ApprovalAnswer } from './tunnel.ts';

const Name = z.string().min(1).max(REQUEST_LIMITS.maxNameChars);

const TextPart = z.object({ type: z.literal('text'), text: z.string() });

/** A string, or OpenAI's list of text parts, which is joined. */
const MessageContent = z
  .union([
    z.string(),
    z.array(TextPart).transform((parts) => parts.map((part) => part.text).join('')),
  ])
  .pipe(z.string().max(REQUEST_LIMITS.maxMessageChars));

export const ChatMessage = z.object({
  role: z.enum(['system', 'user', 'assistant']),
  content: MessageContent,
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
  .refine(
    (messages) => messages.at(-1)?.content.trim() !== '',
    'The last message must not be empty',
  );

/** A tool by any of its names; the parsed value is the canonical one. */
const ToolName = z.string().transform((name, context) => {
  const tool = findTool(name);
  if (tool) return tool.name;
  context.addIssue({
    code: 'custom',
    message: `There is no tool named ${JSON.stringify(name.slice(0, 80))}`,
  });
  return z.NEVER;
});

const ContextText = z.string().max(REQUEST_LIMITS.maxContextChars);

export const RequestContext = z.object({
  workspacePath: ContextText.optional(),
  openFiles: z.array(ContextText).max(REQUEST_LIMITS.maxContextEntries).optional(),
  projectLayout: ContextText.optional(),
  rules: z.array(ContextText).max(REQUEST_LIMITS.maxContextEntries).optional(),
});
export type RequestContext = z.infer<typeof RequestContext>;

/** Named events (`event: document_start`), or unnamed ones with the type inside `data`. */
export const Framing = z.enum(['named', 'data']);
export type Framing = z.infer<typeof Framing>;

/** `POST /api/v1/chat/completions`. */
export const ChatRequest = z.object({
  /** Any name that the upstream knows; without it the configured default answers. */
  model: Name.optional(),
  mode: Mode.default('agent'),
  messages: Messages,
  /** The messages are appended to this conversation; without it they begin a new one. */
  conversationId: ConversationId.optional(),
  /** The bridge of a new conversation; without it the account's bridge that connected last. */
  bridgeId: BridgeId.optional(),
  context: RequestContext.optional(),
  /** Only these tools are on offer; without it all that the mode allows. */
  tools: z.array(ToolName).max(REQUEST_LIMITS.maxContextEntries).optional(),
  /** What to do while the conversation is busy: wait for its turn, or refuse with CONVERSATION_BUSY. */
  delivery: z.enum(['queue', 'reject']).default('queue'),
  /** Shown to other devices beside the message. */
  device: Name.optional(),
  stream: z.boolean().default(false),
  stream_options: z.object({ framing: Framing.default('named') }).optional(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

/** `POST /api/v1/conversations/{id}/approvals/{callId}`: an {@link ApprovalAnswer} whose call is named by the path. */
export const ApprovalRequest = ApprovalAnswer.omit({ callId: true });
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
