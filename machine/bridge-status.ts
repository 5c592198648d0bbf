/** The messages of a bridge process to the `up` that started it, over the IPC channel between them. */
import * as z from 'zod';
import { Confinement } from '../shared/wire/tunnel.ts';

/**
 * `disconnected` passes by itself. After `refused` the bridge does not reconnect. `failed` says why its process ends.
 */
export const BridgeStatus = z.discriminatedUnion('event', [
  z.object({ event: z.literal('connected'), confinement: Confinement }),
  z.object({ event: z.literal('disconnected'), reason: z.string() }),
  z.object({ event: z.literal('refused'), message: z.string() }),
  z.object({ event: z.literal('failed'), message: z.string() }),
]);
export type BridgeStatus = z.infer<typeof BridgeStatus>;
