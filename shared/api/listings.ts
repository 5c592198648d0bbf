/** The lists that an account can ask for: itself, models, tools, bridges. */
import * as z from 'zod';
import { BridgeId } from '../ids.ts';
import { named } from '../named.ts';
import { ModelPrices, ModelRole } from '../settings/models.ts';
import { OpenApproval, OpenQuestions } from '../wire/approvals.ts';
import { DefinitionList } from '../wire/definitions.ts';
import { McpServerReport } from '../wire/mcp-servers.ts';
import { Effect } from '../wire/modes.ts';
import { Skill } from '../wire/skills.ts';
import { ReportedConfinement } from '../wire/tunnel.ts';
import { DeleteAfterHours } from './requests.ts';
import { SessionKey } from './sessions.ts';

/** `GET me`. */
export const Me = z.object({
  account: z.string(),
  scope: z.literal('user'),
  /** Until when the token is valid. */
  expires: z.iso.datetime(),
  /** For new conversations whose first message does not say it; null where they are not private. */
  deleteAfterHours: DeleteAfterHours,
});
named.add(Me, { id: 'Me' });
export type Me = z.infer<typeof Me>;

/** `PATCH me`. */
export const MePatch = z.strictObject({ deleteAfterHours: DeleteAfterHours });
named.add(MePatch, { id: 'MePatch' });
export type MePatch = z.infer<typeof MePatch>;

/** A missing field means that its value is unknown. */
export const ModelInfo = z.object({
  id: z.string(),
  isDefault: z.boolean(),
  takesImages: z.boolean(),
  /** Whether it may answer in private conversations: by its operator's word, its server keeps nothing. */
  isPrivate: z.literal(true).optional(),
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
named.add(ModelList, { id: 'ModelList' });
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
named.add(ToolList, { id: 'ToolList' });
export type ToolList = z.infer<typeof ToolList>;

export const BridgeInfo = z.object({
  id: BridgeId,
  /** Whether the bridge is connected now. The fields below are from its last hello. */
  connected: z.boolean(),
  lastConnected: z.iso.datetime(),
  /** Of a shared bridge, only the folder's name. */
  workspacePath: z.string(),
  tools: z.array(z.string()),
  confinement: ReportedConfinement,
  /** When another process with the bridge's key last took its place while it was connected. Of an own bridge alone. */
  replaced: z.iso.datetime().optional(),
  /** The bridge of another account, whose owner lets this one use it. It takes no message that does not name it. */
  shared: z.literal(true).optional(),
});
named.add(BridgeInfo, { id: 'BridgeInfo' });
export type BridgeInfo = z.infer<typeof BridgeInfo>;

/** An MCP server of a bridge. */
export const McpServerInfo = McpServerReport.extend({
  /** What the agent has of it, also while it is down for a moment. The descriptions are the server's own words. */
  tools: z.array(z.object({ name: z.string(), description: z.string() })),
});
named.add(McpServerInfo, { id: 'McpServerInfo' });
export type McpServerInfo = z.infer<typeof McpServerInfo>;

/** `GET bridges/{id}`. */
export const BridgeDetails = BridgeInfo.extend({
  /** As the bridge last reported them. Empty for a bridge without any, or without reports. */
  mcpServers: z.array(McpServerInfo),
  /** The modes and agents that files of the workspace define, as of the last look. */
  definitions: DefinitionList,
  /** The skills and commands of the workspace and of the owner, likewise. */
  skills: z.array(Skill),
});
named.add(BridgeDetails, { id: 'BridgeDetails' });
export type BridgeDetails = z.infer<typeof BridgeDetails>;

/** `POST bridges/{id}/move`. */
export const BridgeMove = z.object({
  /** Of the machine that the bridge may move to. */
  key: SessionKey,
});
named.add(BridgeMove, { id: 'BridgeMove' });

/** `GET bridges`: the most recently connected bridge comes first. */
export const BridgeList = z.object({ items: z.array(BridgeInfo) });
named.add(BridgeList, { id: 'BridgeList' });
export type BridgeList = z.infer<typeof BridgeList>;

/** `GET approvals`. In both lists the conversation that has waited longest comes first. */
export const ApprovalList = z.object({
  items: z.array(OpenApproval),
  questions: z.array(OpenQuestions),
});
named.add(ApprovalList, { id: 'ApprovalList' });
export type ApprovalList = z.infer<typeof ApprovalList>;
