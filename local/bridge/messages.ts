/** The messages between a server and the process that hosts the bridges of its projects. */
import * as z from 'zod';
import { BridgeStatus } from '../../machine/bridge-status.ts';

/** A bridge to run. Paths are absolute. */
export const HostedBridge = z.object({
  url: z.string(),
  /** Null: the tokens of this machine's session at `url`, which `machineDir` has. */
  token: z.string().nullable(),
  bridgeId: z.string(),
  machineId: z.string(),
  machineDir: z.string(),
  workspaceDir: z.string(),
  stateDir: z.string(),
  environment: z.record(z.string(), z.string()),
  /** Whether it may ask at the terminal of the process, which `up` shares with it. */
  asksAtTerminal: z.boolean(),
  /** Whether the conversations of another folder go on in this one. */
  moves: z.boolean().optional(),
  logFile: z.string(),
});
export type HostedBridge = z.infer<typeof HostedBridge>;

/** To the process. `key` names one run of a bridge: it is never used again. */
export const HostOrder = z.discriminatedUnion('order', [
  z.object({ order: z.literal('run'), key: z.string(), bridge: HostedBridge }),
  z.object({ order: z.literal('end'), key: z.string() }),
]);
export type HostOrder = z.infer<typeof HostOrder>;

/** From the process. After `ended` nothing more comes of that key. */
export const HostNews = z.object({
  key: z.string(),
  news: z.union([BridgeStatus, z.object({ event: z.literal('ended') })]),
});
export type HostNews = z.infer<typeof HostNews>;
