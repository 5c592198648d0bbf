/** Documents and the response that holds them: the response structure of the API, field for field. */
import * as z from 'zod';
import { AttentionItem } from './attention.ts';
import { ConversationId, DocumentId, ResponseId } from './ids.ts';
import { Mode } from './modes.ts';

export const DocumentType = z.enum([
  'text',
  'code_reference',
  'code_block',
  'file_edit',
  'tool_call',
  'terminal_command',
  'plan',
  'clarification',
  'error',
  'todo_update',
  'reasoning',
]);
export type DocumentType = z.infer<typeof DocumentType>;

/**
 * A type as it is read: a later version knows more of them, and a reader keeps its documents. Code that looks at the type
 * has to leave such a document as it is.
 */
export const ReadDocumentType = z.union([DocumentType, z.string()]) as z.ZodType<DocumentType>;

/** Metadata grows while a document streams, so here it is a bag; {@link DocumentMetadata} has the final shapes. */
export const Metadata = z.record(z.string(), z.unknown());
export type Metadata = z.infer<typeof Metadata>;

export const Document = z.object({
  id: DocumentId,
  type: ReadDocumentType,
  sequence: z.int().positive(),
  content: z.string().nullable(),
  metadata: Metadata,
});
export type Document = z.infer<typeof Document>;

/** What a tool came to: `data` is what the model reads, or for an error what went wrong and what to do. */
export const ToolOutcome = z.object({ status: z.enum(['success', 'error']), data: z.unknown() });
export type ToolOutcome = z.infer<typeof ToolOutcome>;

export const Diff = z.object({
  oldString: z.string(),
  newString: z.string(),
  /** Lines of the old text that the change replaces, counted from 1, both included. */
  startLine: z.int(),
  endLine: z.int(),
});
export type Diff = z.infer<typeof Diff>;

export const FileEditMetadata = z.object({
  filePath: z.string(),
  operation: z.enum(['create', 'edit', 'delete', 'rename']),
  /** Where a renamed file is now; `filePath` is where it was. */
  newPath: z.string().optional(),
  language: z.string(),
  diff: Diff.nullable().optional(),
  /** Present only when the edit was not applied. */
  result: ToolOutcome.optional(),
});
export type FileEditMetadata = z.infer<typeof FileEditMetadata>;

export const TerminalCommandMetadata = z.object({
  command: z.string(),
  workingDirectory: z.string().optional(),
  /** -1 when the command was ended by a signal or never started; absent for one that runs on in the background. */
  exitCode: z.int().optional(),
  output: z.string(),
  duration_ms: z.number().nonnegative(),
  permissions: z.array(z.string()),
  /** What it left behind that concerns a person; absent where there is nothing. */
  newlyProtected: z.array(AttentionItem).optional(),
  /** Present only when the command was not run to its end. */
  result: ToolOutcome.optional(),
});
export type TerminalCommandMetadata = z.infer<typeof TerminalCommandMetadata>;

export const ToolCallMetadata = z.object({
  toolName: z.string(),
  toolCallId: z.string(),
  arguments: Metadata,
  result: ToolOutcome,
  duration_ms: z.number().nonnegative(),
});

export const TodoStatus = z.enum(['pending', 'in_progress', 'completed', 'cancelled']);
export type TodoStatus = z.infer<typeof TodoStatus>;

export const Todo = z.object({
  id: z.string(),
  content: z.string(),
  status: TodoStatus,
  /** Ids of the todos that must be completed before. */
  dependencies: z.array(z.string()),
});
export type Todo = z.infer<typeof Todo>;

export const PlanMetadata = z.object({
  title: z.string(),
  overview: z.string(),
  todos: z.array(Todo),
  format: z.literal('markdown'),
});
export type PlanMetadata = z.infer<typeof PlanMetadata>;

/** What changed: `content` is there for a todo that is new or was reworded. */
export const TodoUpdateMetadata = z.object({
  todos: z.array(z.object({ id: z.string(), status: TodoStatus, content: z.string().optional() })),
});
export type TodoUpdateMetadata = z.infer<typeof TodoUpdateMetadata>;

export const Question = z.object({
  id: z.string(),
  text: z.string(),
  options: z.array(z.object({ id: z.string(), label: z.string() })),
  /** Whether more than one option may be chosen; without it one. */
  allowMultiple: z.boolean().optional(),
});
export type Question = z.infer<typeof Question>;

/** A person's answer to one question: options of it, words of their own, or both. */
export const Answer = z.object({
  questionId: z.string(),
  optionIds: z.array(z.string()),
  text: z.string().optional(),
});
export type Answer = z.infer<typeof Answer>;

export const ClarificationMetadata = z.object({
  questions: z.array(Question),
  /** There once it was answered; a question that was passed over has no entry. */
  answers: z.array(Answer).optional(),
});
export type ClarificationMetadata = z.infer<typeof ClarificationMetadata>;

/** Characters of the fence that the model wrote, where more than three: the code may hold shorter fences. */
const FenceLength = z.int().optional();

/** The metadata of a finished document, by type. A document cut off by a crash carries `interrupted: true` as well. */
export const DocumentMetadata = {
  text: z.object({ format: z.enum(['markdown', 'plain']) }),
  code_reference: z.object({
    filePath: z.string(),
    startLine: z.int(),
    endLine: z.int(),
    language: z.string(),
    fenceLength: FenceLength,
  }),
  code_block: z.object({
    language: z.string(),
    purpose: z.enum(['new_code', 'example', 'suggestion']),
    fenceLength: FenceLength,
  }),
  file_edit: FileEditMetadata,
  tool_call: ToolCallMetadata,
  terminal_command: TerminalCommandMetadata,
  plan: PlanMetadata,
  clarification: ClarificationMetadata,
  error: z.object({ errorCode: z.string(), source: z.string(), details: z.string() }),
  todo_update: TodoUpdateMetadata,
  reasoning: z.object({ format: z.literal('plain') }),
} as const;

/** In the main unit of the currency (ISO 4217): `{"amount": 0.0042, "currency": "USD"}`. */
export const Cost = z.object({ amount: z.number().nonnegative(), currency: z.string() });
export type Cost = z.infer<typeof Cost>;

/** Tokens of a response, summed over its turns. */
export const Usage = z.object({
  promptTokens: z.int().nonnegative(),
  completionTokens: z.int().nonnegative(),
  totalTokens: z.int().nonnegative(),
  cachedPromptTokens: z.int().nonnegative().optional(),
  reasoningTokens: z.int().nonnegative().optional(),
  /** By the prices of the models that answered; only where those of every counted turn are known. */
  cost: Cost.optional(),
  /**
   * Requests to the model whose server reported no tokens, such as one that was cancelled. The counts and the cost lack
   * them, so each of these is a lower bound. Absent where every request was counted.
   */
  unreportedRequests: z.int().positive().optional(),
});
export type Usage = z.infer<typeof Usage>;

/** `streaming` is the run at work, `waiting` the run waiting for a person, `error` a run that failed. */
export const ResponseStatus = z.enum([
  'queued',
  'streaming',
  'waiting',
  'completed',
  'error',
  'cancelled',
]);
export type ResponseStatus = z.infer<typeof ResponseStatus>;

/** A tool that the request asked for by name and that the run does not have. */
export const UnavailableTool = z.object({
  /** As the request named it, or its canonical name. */
  name: z.string(),
  code: z.enum(['NOT_SUPPORTED', 'WRONG_MODE', 'NO_BRIDGE', 'NOT_ON_BRIDGE', 'BRIDGE_OFFLINE']),
  /** One sentence: why, and what to do. */
  reason: z.string(),
});
export type UnavailableTool = z.infer<typeof UnavailableTool>;

export const ResponseMetadata = z.object({
  duration_ms: z.number().nonnegative(),
  toolCallCount: z.int().nonnegative(),
  turnCount: z.int().nonnegative(),
  /** Rows that were written for it in storage, over all objects and alarms: what it costs to keep. There once it has ended. */
  rows: z.int().nonnegative().optional(),
  /** From the start on; absent where everything that was asked for is there. */
  unavailableTools: z.array(UnavailableTool).optional(),
});
export type ResponseMetadata = z.infer<typeof ResponseMetadata>;

export const ChatResponse = z.object({
  id: ResponseId,
  conversationId: ConversationId,
  model: z.string(),
  mode: Mode,
  created: z.iso.datetime(),
  status: ResponseStatus,
  documents: z.array(Document),
  /** Null until the response has ended, and for an upstream that reports no usage. */
  usage: Usage.nullable(),
  metadata: ResponseMetadata,
});
export type ChatResponse = z.infer<typeof ChatResponse>;

/** A message of the user, with the response it asked for. */
export const UserMessage = z.object({
  responseId: ResponseId,
  content: z.string(),
  created: z.iso.datetime(),
  /** How many images it holds besides its text. */
  imageCount: z.int().positive().optional(),
  /** The label of the device it was sent from, where the client gave one. */
  device: z.string().optional(),
  /** Sent while the response was at work: it belongs into it, not before it. */
  steers: z.literal(true).optional(),
  /** For one that steers: the sequence of the last document before the model learned of it. Absent until then. */
  afterSequence: z.int().nonnegative().optional(),
  /** Taken back while it waited: no response begins. */
  cancelled: z.literal(true).optional(),
});
export type UserMessage = z.infer<typeof UserMessage>;

/**
 * What a client shows of a conversation, as far as it was read at once: whole exchanges that follow one another, the
 * oldest first. Each message stands before the response with its `responseId`.
 */
export const ConversationView = z.object({
  id: ConversationId,
  title: z.string(),
  archived: z.boolean(),
  created: z.iso.datetime(),
  bridgeId: z.string().nullable(),
  messages: z.array(UserMessage),
  responses: z.array(ChatResponse),
  /** The first response here, where there is something before it: to be read with `before`. Null at the beginning. */
  earlier: ResponseId.nullable(),
  /**
   * Where the tape ended when this was read: what happened since follows it, and belongs to the newest part, never to one
   * that was read with `before`. A fold of events does not move it.
   */
  position: z.int().nonnegative(),
});
export type ConversationView = z.infer<typeof ConversationView>;
