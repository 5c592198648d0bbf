/** Documents and their response: the response structure of the API, field for field. */
import * as z from 'zod';
import { ConversationId, DocumentId, ResponseId } from '../ids.ts';
import { named } from '../named.ts';
import { AttentionItem } from './attention.ts';
import { BudgetState, Cost } from './budget.ts';
import { documentTypes } from './document-types.ts';
import { Mode } from './modes.ts';
import { UndoReport } from './undo.ts';

export const DocumentType = z.enum(documentTypes);
named.add(DocumentType, { id: 'DocumentType' });
export type DocumentType = z.infer<typeof DocumentType>;

/** A document type as a reader takes it: later types are kept unchanged. */
export const ReadDocumentType = z.union([DocumentType, z.string()]) as z.ZodType<DocumentType>;

/** Any fields, because metadata grows while a document streams. {@link DocumentMetadata} has the final shapes. */
export const Metadata = z.record(z.string(), z.unknown());
named.add(Metadata, { id: 'Metadata' });
export type Metadata = z.infer<typeof Metadata>;

export const Document = z.object({
  id: DocumentId,
  type: ReadDocumentType,
  sequence: z.int().positive(),
  content: z.string().nullable(),
  metadata: Metadata,
});
named.add(Document, { id: 'Document' });
export type Document = z.infer<typeof Document>;

/** The outcome of a tool. `data` is what the model reads: the result, or what went wrong and what to do. */
export const ToolOutcome = z.object({ status: z.enum(['success', 'error']), data: z.unknown() });
named.add(ToolOutcome, { id: 'ToolOutcome' });
export type ToolOutcome = z.infer<typeof ToolOutcome>;

export const Diff = z.object({
  oldString: z.string(),
  newString: z.string(),
  /** The first and last line of the old text that the change replaces, counted from 1. */
  startLine: z.int(),
  endLine: z.int(),
});
named.add(Diff, { id: 'Diff' });
export type Diff = z.infer<typeof Diff>;

/** The id of the document's call. Absent in documents of earlier versions. */
const OwnCall = z.string().optional();

export const FileEditMetadata = z.object({
  toolCallId: OwnCall,
  filePath: z.string(),
  operation: z.enum(['create', 'edit', 'delete', 'rename']),
  /** The new path of a renamed file; `filePath` is its old path. */
  newPath: z.string().optional(),
  language: z.string(),
  /** Null also where the changes are far apart: then `hunks` has them. */
  diff: Diff.nullable().optional(),
  /** Each change of several, in order. */
  hunks: z.array(Diff).optional(),
  /** The language server that checked the new text before it was written; absent without a check. */
  checked_by: z.string().optional(),
  /** Why no language server checked a file of a language that has one. */
  not_checked: z.string().optional(),
  /** The owner's formatter that the new text went through. */
  formatted_by: z.string().optional(),
  /** Why the owner's formatter for the file did not format the new text. */
  not_formatted: z.string().optional(),
  /** The errors that the edit adds, in the new text or in files that import it; both numbers count from 1. */
  linter_errors: z
    .array(
      z.object({
        /** Of the other file. */
        path: z.string().optional(),
        line: z.int(),
        column: z.int(),
        message: z.string(),
        /** The linter and its rule. */
        source: z.string().optional(),
      }),
    )
    .optional(),
  /** Present only if the edit was not applied. */
  result: ToolOutcome.optional(),
});
export type FileEditMetadata = z.infer<typeof FileEditMetadata>;

export const TerminalCommandMetadata = z.object({
  toolCallId: OwnCall,
  command: z.string(),
  workingDirectory: z.string().optional(),
  /** -1 if a signal ended the command or it never started. Absent for a command that runs on in the background. */
  exitCode: z.int().optional(),
  /** The handle of a command that runs on, or of one whose output is longer than this. */
  process_id: z.string().optional(),
  output: z.string(),
  duration_ms: z.number().nonnegative(),
  permissions: z.array(z.string()),
  /** What the command left behind that concerns a person; absent if there is nothing. */
  newlyProtected: z.array(AttentionItem).optional(),
  /** Present only if the command did not run to its end. */
  result: ToolOutcome.optional(),
});
export type TerminalCommandMetadata = z.infer<typeof TerminalCommandMetadata>;

/** An image that a tool returned, for people. Kinds that every browser shows; SVG can hold programs. */
export const ResultImage = z.object({
  mimeType: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
  /** Base64. */
  data: z.string(),
});
export type ResultImage = z.infer<typeof ResultImage>;

/** See `ClientToolForm` in shared/tools/toolbox.ts. */
export const AppToolForm = z.object({
  kind: z.enum(['function', 'custom']),
  namespace: z.string().optional(),
  name: z.string().optional(),
});

export const ToolCallMetadata = z.object({
  toolName: z.string(),
  /** Set for a tool of the app, whatever its name. */
  isOfApp: z.literal(true).optional(),
  /** How the app wants the calls of its tool; absent for a function by its own name. */
  form: AppToolForm.optional(),
  toolCallId: z.string(),
  arguments: Metadata,
  result: ToolOutcome,
  duration_ms: z.number().nonnegative(),
  /** Absent without any. Less than 1 MB together. */
  images: z.array(ResultImage).optional(),
  /** Set for an undo and its preview: what becomes of each file. */
  undo: UndoReport.optional(),
});

export const TodoStatus = z.enum(['pending', 'in_progress', 'completed', 'cancelled']);
named.add(TodoStatus, { id: 'TodoStatus' });
export type TodoStatus = z.infer<typeof TodoStatus>;

export const Todo = z.object({
  id: z.string(),
  content: z.string(),
  status: TodoStatus,
  /** Ids of the todos that must be completed first. */
  dependencies: z.array(z.string()),
});
named.add(Todo, { id: 'Todo' });
export type Todo = z.infer<typeof Todo>;

export const PlanMetadata = z.object({
  toolCallId: OwnCall,
  title: z.string(),
  overview: z.string(),
  todos: z.array(Todo),
  format: z.literal('markdown'),
  /** 1 as the agent made it; each change by a person adds 1. Absent in plans of earlier releases: 1. */
  version: z.int().positive().optional(),
});
export type PlanMetadata = z.infer<typeof PlanMetadata>;

/** The changed todos. `content` is present for a new or reworded todo. */
export const TodoUpdateMetadata = z.object({
  toolCallId: OwnCall,
  todos: z.array(z.object({ id: z.string(), status: TodoStatus, content: z.string().optional() })),
});
export type TodoUpdateMetadata = z.infer<typeof TodoUpdateMetadata>;

export const Question = z.object({
  id: z.string(),
  text: z.string(),
  options: z.array(z.object({ id: z.string(), label: z.string() })),
  /** Whether a person may choose more than one option. Absent: only one. */
  allowMultiple: z.boolean().optional(),
});
named.add(Question, { id: 'Question' });
export type Question = z.infer<typeof Question>;

/** A person's answer to one question: chosen options, their own text, or both. */
export const Answer = z.object({
  questionId: z.string(),
  optionIds: z.array(z.string()),
  text: z.string().optional(),
});
named.add(Answer, { id: 'Answer' });
export type Answer = z.infer<typeof Answer>;

export const ClarificationMetadata = z.object({
  toolCallId: OwnCall,
  questions: z.array(Question),
  /** Present once the person has answered. A skipped question has no entry. */
  answers: z.array(Answer).optional(),
});
export type ClarificationMetadata = z.infer<typeof ClarificationMetadata>;

/** The length of the model's fence if it is longer than three characters: the code may contain shorter fences. */
const FenceLength = z.int().optional();

/** The metadata of a finished document, by type. A document that a crash cut off also has `interrupted: true`. */
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
  error: z.object({
    errorCode: z.string(),
    source: z.string(),
    details: z.string(),
    /** The trace id of the run (shared/wire/trace.ts). Absent in documents of earlier versions. */
    traceId: z.string().optional(),
  }),
  todo_update: TodoUpdateMetadata,
  reasoning: z.object({ format: z.literal('plain') }),
} as const satisfies Record<DocumentType, z.ZodObject>;

/** Tokens of a response, summed over its turns and those of its subagents. */
export const Usage = z.object({
  promptTokens: z.int().nonnegative(),
  completionTokens: z.int().nonnegative(),
  totalTokens: z.int().nonnegative(),
  cachedPromptTokens: z.int().nonnegative().optional(),
  /** Tokens of the prompt that the server wrote to its cache, for later prompts. */
  cacheWriteTokens: z.int().nonnegative().optional(),
  reasoningTokens: z.int().nonnegative().optional(),
  /** Computed with the prices of the models that answered. Present only if the price of every counted turn is known. */
  cost: Cost.optional(),
  /** Requests without reported tokens: the counts and the cost are lower bounds. Absent without any. */
  unreportedRequests: z.int().positive().optional(),
});
named.add(Usage, { id: 'Usage' });
export type Usage = z.infer<typeof Usage>;

/** The newest prompt of a response: what of the model's window the conversation fills. */
export const LastPrompt = z.object({
  tokens: z.int().nonnegative(),
  cachedTokens: z.int().nonnegative().optional(),
});
export type LastPrompt = z.infer<typeof LastPrompt>;

/** What a response has spent when it begins to wait for the app. */
export const SpentSoFar = z.object({ usage: Usage, lastPrompt: LastPrompt });
export type SpentSoFar = z.infer<typeof SpentSoFar>;

/** What a subagent has spent, its own subagents included. The metadata of its call's result has these fields. */
export const TaskSpent = z.object({ usage: Usage.nullable(), turns: z.int().nonnegative() });
export type TaskSpent = z.infer<typeof TaskSpent>;

/** `streaming`: the run is in progress. `waiting`: the run waits for a person. `error`: the run failed. */
export const ResponseStatus = z.enum([
  'queued',
  'streaming',
  'waiting',
  'completed',
  'error',
  'cancelled',
]);
named.add(ResponseStatus, { id: 'ResponseStatus' });
export type ResponseStatus = z.infer<typeof ResponseStatus>;

/** A tool that the run does not have: the request named it, or it is one offer too many. */
export const UnavailableTool = z.object({
  /** The name in the request, or the canonical name. */
  name: z.string(),
  code: z.enum([
    'NOT_SUPPORTED',
    'WRONG_MODE',
    'NO_BRIDGE',
    'NOT_ON_BRIDGE',
    'BRIDGE_OFFLINE',
    'DISPLACED',
  ]),
  /** One sentence: the reason, and what to do. */
  reason: z.string(),
});
named.add(UnavailableTool, { id: 'UnavailableTool' });
export type UnavailableTool = z.infer<typeof UnavailableTool>;

/** What a mention in the message (`@src/a.ts`, `/review`) leads to. `none`: nothing is attached, and `reason` says why. */
export const AttachedMention = z.object({
  type: z.enum(['file', 'folder', 'url', 'skill', 'command', 'none']),
  /** The path relative to the workspace, the address, or the skill's name; of `none`, as the message has it. */
  name: z.string(),
  reason: z.string().optional(),
});
export type AttachedMention = z.infer<typeof AttachedMention>;

/** Why the model is not asked at the moment. */
export const ModelWaitState = z.object({
  /** `rate_limited`: too many requests. `unavailable`: any other failure that can pass. */
  reason: z.enum(['rate_limited', 'unavailable']),
  /** When it is asked again. */
  until: z.iso.datetime(),
});
export type ModelWaitState = z.infer<typeof ModelWaitState>;

export const ResponseMetadata = z.object({
  duration_ms: z.number().nonnegative(),
  toolCallCount: z.int().nonnegative(),
  turnCount: z.int().nonnegative(),
  /** Tokens of the last turn, prompt and answer: what of the model's window the conversation fills. Present at its end. */
  contextTokens: z.int().nonnegative().optional(),
  /** Present at its end. */
  lastPrompt: LastPrompt.optional(),
  /** Storage rows written for the response, in all objects and alarms: its storage cost. Present at its end. */
  rows: z.int().nonnegative().optional(),
  /** Present from the start; absent if every requested tool is available, and none was one too many. */
  unavailableTools: z.array(UnavailableTool).optional(),
  /** In the order of the messages; absent if they mention nothing. */
  attachments: z.array(AttachedMention).optional(),
  /** The answer as JSON, where the request asks for that. Present at its end. */
  output: z.string().optional(),
  /** Settings of requests that were left out or changed, because the model server refuses them. Present at its end. */
  adjusted: z.array(z.string()).optional(),
  /** Present only while the response waits for the model server. */
  wait: ModelWaitState.optional(),
  /** Present once a response with a budget nears it, and at its end. */
  budget: BudgetState.optional(),
});
named.add(ResponseMetadata, { id: 'ResponseMetadata' });
export type ResponseMetadata = z.infer<typeof ResponseMetadata>;

export const ChatResponse = z.object({
  id: ResponseId,
  conversationId: ConversationId,
  model: z.string(),
  /** What the agent may do. */
  mode: Mode,
  /** The mode of the workspace that narrows `mode`. */
  ownMode: z.string().optional(),
  created: z.iso.datetime(),
  status: ResponseStatus,
  documents: z.array(Document),
  /** Null before the end of the response, and if the model server reports no usage. */
  usage: Usage.nullable(),
  metadata: ResponseMetadata,
});
named.add(ChatResponse, { id: 'ChatResponse' });
export type ChatResponse = z.infer<typeof ChatResponse>;

/** A message of the user. `responseId` is the response that it asks for. */
export const UserMessage = z.object({
  responseId: ResponseId,
  content: z.string(),
  created: z.iso.datetime(),
  /** The number of images beside the text. */
  imageCount: z.int().positive().optional(),
  /** The label of the sending device, if the client gave one. */
  device: z.string().optional(),
  /** Sent while the response was in progress: the message belongs inside the response, not before it. */
  steers: z.literal(true).optional(),
  /** For a steering message: the sequence of the last document before the model got it. Absent until then. */
  afterSequence: z.int().nonnegative().optional(),
  /** Withdrawn while it waited: no response begins. */
  cancelled: z.literal(true).optional(),
  /** Not a person's words: asks for the preview of an undo, of which no model learns. */
  preview: z.literal(true).optional(),
});
named.add(UserMessage, { id: 'UserMessage' });
export type UserMessage = z.infer<typeof UserMessage>;

/** What becomes of the text of a private conversation. */
const Privacy = z.object({
  /** Hours after the last answer. */
  deleteAfterHours: z.int().nonnegative(),
  /** When the text is deleted unless another message comes; absent while an answer runs, and once it is deleted. */
  deletes: z.iso.datetime().optional(),
  /** When the text was deleted: there are no messages and responses any more, and no new ones. */
  deleted: z.iso.datetime().optional(),
});

/** Whole exchanges in a row, the oldest first. Each message is shown before the response with its `responseId`. */
export const ConversationView = z.object({
  id: ConversationId,
  title: z.string(),
  archived: z.boolean(),
  created: z.iso.datetime(),
  bridgeId: z.string().nullable(),
  /** The conversation whose subagent works here. Set for a subagent, which takes no messages of people. */
  parent: ConversationId.optional(),
  /** Set for a private conversation. */
  privacy: Privacy.optional(),
  messages: z.array(UserMessage),
  responses: z.array(ChatResponse),
  /** The first response here if older ones exist: pass it as `before` to read them. Null at the beginning. */
  earlier: ResponseId.nullable(),
  /** The end of the tape at the reading. Later events belong to the newest part. Folding does not change it. */
  position: z.int().nonnegative(),
});
named.add(ConversationView, { id: 'ConversationView' });
export type ConversationView = z.infer<typeof ConversationView>;
