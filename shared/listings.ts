/** The lists that an account can ask for: itself, models, tools, bridges. */
import * as z from 'zod';
import { Asked } from './approvals.ts';
import { DefinitionList } from './definitions.ts';
import { Question } from './documents.ts';
import { BridgeId, ConversationId, DocumentId, ResponseId } from './ids.ts';
import { McpServerReports } from './mcp-servers.ts';
import { ModelPrices, ModelRole } from './models.ts';
import { Effect } from './modes.ts';
import { Confinement } from './tunnel.ts';

/** `GET me`. */
export const Me = z.object({
  account: z.string(),
  scope: z.literal('user'),
  /** Until when the token is valid. */
  expires: z.iso.datetime(),
});
export type Me = z.infer<typeof Me>;

/** A missing field means that its value is unknown. */
export const ModelInfo = z.object({
  id: z.string(),
  isDefault: z.boolean(),
  takesImages: z.boolean(),
  /** Absent: the model chats. */
  roles: z.array(ModelRole).optional(),
  /** Tokens of the prompt and the answer together. */
  contextWindow: z.int().positive().optional(),
  prices: ModelPrices.optional(),
});
export type ModelInfo = z.infer<typeof ModelInfo>;

/** `GET models`. */
export const ModelList = z.object({
  items: z.array(ModelInfo),
  /** Whether the model server gets names that are not in the list. */
  passesThrough: z.boolean(),
});
export type ModelList = z.infer<typeof ModelList>;

/** `GET tools`: all tools. A run's mode and bridge decide which of them it has. */
export const ToolList = z.object({
  items: z.array(
    z.object({
      name: z.string(),
      aliases: z.array(z.string()),
      description: z.string(),
      effect: Effect,
      /** JSON Schema of the arguments. */
      parameters: z.record(z.string(), z.unknown()),
    }),
  ),
});
export type ToolList = z.infer<typeof ToolList>;

export const BridgeInfo = z.object({
  id: BridgeId,
  /** Whether the bridge is connected now. The fields below are from its last hello. */
  connected: z.boolean(),
  lastConnected: z.iso.datetime(),
  workspacePath: z.string(),
  tools: z.array(z.string()),
  confinement: Confinement,
});
export type BridgeInfo = z.infer<typeof BridgeInfo>;

/** `GET bridges/{id}`. */
export const BridgeDetails = BridgeInfo.extend({
  /** As the bridge told last. Empty for one that has no MCP servers, or tells none. */
  mcpServers: McpServerReports,
  /** The modes and agents that files of the workspace define, as of the last look. */
  definitions: DefinitionList,
});
export type BridgeDetails = z.infer<typeof BridgeDetails>;

/** `GET bridges`: the most recently connected bridge comes first. */
export const BridgeList = z.object({ items: z.array(BridgeInfo) });
export type BridgeList = z.infer<typeof BridgeList>;

/** A call that waits for a person, with everything that a device shows and signs (shared/approvals.ts). */
export const OpenApproval = Asked.extend({
  conversationId: ConversationId,
  /** The conversation's title. */
  title: z.string(),
  responseId: ResponseId,
  documentId: DocumentId,
  /** Why the bridge asks, in one sentence. */
  reason: z.string(),
  newText: z.string().optional(),
});
export type OpenApproval = z.infer<typeof OpenApproval>;

/** The questions of a `clarification` that waits for a person. A subagent's are answered at its own conversation. */
export const OpenQuestions = z.object({
  conversationId: ConversationId,
  /** The conversation's title. */
  title: z.string(),
  responseId: ResponseId,
  documentId: DocumentId,
  questions: z.array(Question),
});
export type OpenQuestions = z.infer<typeof OpenQuestions>;

/** `GET approvals`. */
export const ApprovalList = z.object({
  /** In the order of the calls, within a bridge. */
  items: z.array(OpenApproval),
  /** The conversation that has waited longest comes first. */
  questions: z.array(OpenQuestions),
});
export type ApprovalList = z.infer<typeof ApprovalList>;
