/** What can be asked about an account and its surroundings: who, which models, which tools, which bridges. */
import * as z from 'zod';
import { BridgeId } from './ids.ts';
import { ModelPrices, ModelRole } from './models.ts';
import { Effect } from './modes.ts';
import { Confinement } from './tunnel.ts';

/** `GET me`. */
export const Me = z.object({ account: z.string(), scope: z.literal('user') });
export type Me = z.infer<typeof Me>;

/** What is not there is not known. */
export const ModelInfo = z.object({
  id: z.string(),
  isDefault: z.boolean(),
  takesImages: z.boolean(),
  /** Without it the model chats. */
  roles: z.array(ModelRole).optional(),
  /** Tokens of prompt and answer together. */
  contextWindow: z.int().positive().optional(),
  prices: ModelPrices.optional(),
});
export type ModelInfo = z.infer<typeof ModelInfo>;

/** `GET models`. */
export const ModelList = z.object({
  items: z.array(ModelInfo),
  /** Whether names that are not listed are passed through to the model server. */
  passesThrough: z.boolean(),
});
export type ModelList = z.infer<typeof ModelList>;

/** `GET tools`: all there are; which of them a run has depends on its mode and its bridge. */
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
  /** Whether it is there now; what follows is from its last hello. */
  connected: z.boolean(),
  lastConnected: z.iso.datetime(),
  workspacePath: z.string(),
  tools: z.array(z.string()),
  confinement: Confinement,
});
export type BridgeInfo = z.infer<typeof BridgeInfo>;

/** `GET bridges`: the one that connected last comes first; new conversations get it. */
export const BridgeList = z.object({ items: z.array(BridgeInfo) });
export type BridgeList = z.infer<typeof BridgeList>;
