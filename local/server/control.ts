/** The control socket's wire: one line of JSON asks, lines of JSON answer. */
import * as z from 'zod';
import { IndexReport } from '../../machine/bridge-status.ts';
import { sha256 } from '../../machine/hash.ts';
import { ReportedConfinement } from '../../shared/wire/tunnel.ts';

export const ControlRequest = z.discriminatedUnion('ask', [
  z.object({ ask: z.literal('status') }),
  /** Connects a folder, and answers when its bridge is connected. A held folder leaves with the socket. */
  z.object({
    ask: z.literal('connect'),
    workspaceDir: z.string(),
    environment: z.record(z.string(), z.string()),
    isHeld: z.boolean(),
    /** Whether the conversations of the folder that the state had before go on in this one. */
    moves: z.boolean().optional(),
    /** The Drawbridge elsewhere that the folder is connected to, by this machine's session there. */
    to: z.string().optional(),
  }),
  z.object({ ask: z.literal('disconnect'), workspaceDir: z.string() }),
]);
export type ControlRequest = z.infer<typeof ControlRequest>;

/** `missing`: the folder was deleted or moved. `failed`: the bridge stopped and is not started again. */
export const BridgeReport = z.discriminatedUnion('state', [
  z.object({ state: z.literal('starting') }),
  z.object({ state: z.literal('connected'), confinement: ReportedConfinement }),
  z.object({ state: z.literal('away'), reason: z.string() }),
  z.object({ state: z.literal('failed'), reason: z.string() }),
  z.object({ state: z.literal('missing') }),
]);
export type BridgeReport = z.infer<typeof BridgeReport>;

export const ProjectReport = z.object({
  workspaceDir: z.string(),
  bridge: BridgeReport,
  /** The Drawbridge elsewhere that the folder is connected to. */
  to: z.string().optional(),
  /** Absent until the bridge has been connected. */
  index: IndexReport.optional(),
});
export type ProjectReport = z.infer<typeof ProjectReport>;

/** Programs of other versions read it too: a field keeps its meaning. */
export const ServerReport = z.object({
  version: z.string(),
  pid: z.int(),
  url: z.string(),
  /** The model that answers a request that names none: null without one; and words for a person. */
  model: z.object({ name: z.string().nullable(), text: z.string() }),
  /** Set where new conversations are private, unless the account or the message says otherwise. */
  deleteAfterHours: z.int().nonnegative().optional(),
  /** SHA-256 of the value of each setting that it was started with, by variable. Older servers do not send it. */
  settings: z.record(z.string(), z.string()).optional(),
  started: z.iso.datetime(),
  projects: z.array(ProjectReport),
  /** What people should know, the newest last. */
  notices: z.array(z.object({ time: z.iso.datetime(), text: z.string() })),
});
export type ServerReport = z.infer<typeof ServerReport>;

export const ControlAnswer = z.discriminatedUnion('answer', [
  z.object({ answer: z.literal('status'), server: ServerReport }),
  z.object({ answer: z.literal('connected'), project: ProjectReport }),
  z.object({ answer: z.literal('disconnected'), wasConnected: z.boolean() }),
  /** The kind of {@link LocalError}. */
  z.object({
    answer: z.literal('error'),
    kind: z.enum(['refused', 'failed']),
    message: z.string(),
  }),
]);
export type ControlAnswer = z.infer<typeof ControlAnswer>;

/** `settings` of a {@link ServerReport}: digests, because one setting is a secret. */
export function digestsOf(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, sha256(value)]));
}
