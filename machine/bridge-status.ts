/** The messages of a bridge process to the `up` that started it, over the IPC channel between them. */
import * as z from 'zod';
import { ReportedConfinement } from '../shared/wire/tunnel.ts';

/** How far the vectors of an index are. `server` makes them: it gets the text of the files. */
export const VectorReport = z.discriminatedUnion('state', [
  z.object({ state: z.literal('making'), server: z.string(), done: z.int(), of: z.int() }),
  /** `leftOut` counts the chunks beyond the limits, `heldBack` those of files that the rules keep from the server. */
  z.object({
    state: z.literal('ready'),
    server: z.string(),
    leftOut: z.int(),
    heldBack: z.int(),
  }),
  z.object({ state: z.literal('failing'), server: z.string(), reason: z.string() }),
]);
export type VectorReport = z.infer<typeof VectorReport>;

/** How the index of a bridge's workspace is. `off`: searches look into the files themselves. */
export const IndexReport = z.discriminatedUnion('state', [
  z.object({ state: z.literal('off'), reason: z.string() }),
  z.object({ state: z.literal('building'), files: z.int(), of: z.int() }),
  /** `leftOut` counts the files beyond the limits. */
  z.object({
    state: z.literal('ready'),
    files: z.int(),
    leftOut: z.int(),
    /** Where the owner has a model for them. */
    vectors: VectorReport.optional(),
  }),
]);
export type IndexReport = z.infer<typeof IndexReport>;

/** `disconnected` passes. After `refused` the bridge does not reconnect. `failed` says why its process ends. */
export const BridgeStatus = z.discriminatedUnion('event', [
  z.object({ event: z.literal('connected'), confinement: ReportedConfinement }),
  z.object({ event: z.literal('disconnected'), reason: z.string() }),
  z.object({ event: z.literal('refused'), message: z.string() }),
  z.object({ event: z.literal('failed'), message: z.string() }),
  z.object({ event: z.literal('index'), index: IndexReport }),
]);
export type BridgeStatus = z.infer<typeof BridgeStatus>;
