/** `push`: the notifications that a session's browser gets while the page is closed (Web Push, RFC 8030). */
import * as z from 'zod';
import { PUSH_LIMITS } from '../limits.ts';

/** What a notification can be about. */
export const PushKind = z.enum(['waiting', 'ended', 'failed']);
export type PushKind = z.infer<typeof PushKind>;

/** Which notifications the session wants. */
export const PushKinds = z.strictObject({
  /** An approval or a question waits for a person. */
  waiting: z.boolean(),
  /** An agent, or an answer that took long, is complete. */
  ended: z.boolean(),
  /** Such an answer failed. */
  failed: z.boolean(),
});
export type PushKinds = z.infer<typeof PushKinds>;

/** A browser's subscription, as `PushSubscription.toJSON()` has it. */
export const BrowserSubscription = z.strictObject({
  /** The address at the browser's push service. It is a secret: a sender needs only this and the server's key. */
  endpoint: z.url().max(PUSH_LIMITS.maxEndpointChars),
  /** The browser's keys (RFC 8291, section 3.1): a point of P-256, and a secret of 16 bytes. */
  keys: z.strictObject({
    p256dh: z.base64url().length(PUSH_LIMITS.keyChars),
    auth: z.base64url().length(PUSH_LIMITS.authChars),
  }),
});
export type BrowserSubscription = z.infer<typeof BrowserSubscription>;

/** `PUT push`. */
export const PushRequest = z.strictObject({ subscription: BrowserSubscription, kinds: PushKinds });
export type PushRequest = z.infer<typeof PushRequest>;

/** `GET push`. */
export const PushState = z.object({
  /** The server's key, which a browser subscribes with: an uncompressed point of P-256 in base64url (RFC 8292). */
  publicKey: z.string(),
  /** The session's own subscription. */
  subscribed: z.object({ endpoint: z.string(), kinds: PushKinds }).nullable(),
});
export type PushState = z.infer<typeof PushState>;
