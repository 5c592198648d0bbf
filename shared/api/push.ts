/** `push`: the notifications that a session gets while the page is closed, by Web Push (RFC 8030) or by ntfy. */
import * as z from 'zod';
import { PUSH_LIMITS } from '../limits.ts';
import { named } from '../named.ts';

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
named.add(PushKinds, { id: 'PushKinds' });
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
named.add(BrowserSubscription, { id: 'BrowserSubscription' });
export type BrowserSubscription = z.infer<typeof BrowserSubscription>;

/** A topic at a server of ntfy (docs.ntfy.sh). */
export const NtfyTopic = z.strictObject({
  /** The server's address and the topic's name. It is a secret: ntfy asks for nothing else by default. */
  topic: z
    .string()
    .max(PUSH_LIMITS.maxEndpointChars)
    .regex(
      /^https?:\/\/[^\s/\\?#@]+\/[-_A-Za-z0-9]{1,64}$/,
      'Give the address of a topic, such as https://ntfy.sh/my-topic',
    ),
  /** An access token of the server. */
  token: z
    .string()
    .regex(/^tk_[-_A-Za-z0-9]{29}$/, 'Give an access token of ntfy: tk_ and 29 characters')
    .optional(),
});
named.add(NtfyTopic, { id: 'NtfyTopic' });
export type NtfyTopic = z.infer<typeof NtfyTopic>;

export const PushSubscription = z.union([BrowserSubscription, NtfyTopic]);
export type PushSubscription = z.infer<typeof PushSubscription>;

/** `PUT push`. */
export const PushRequest = z.strictObject({ subscription: PushSubscription, kinds: PushKinds });
named.add(PushRequest, { id: 'PushRequest' });
export type PushRequest = z.infer<typeof PushRequest>;

/** `GET push`. */
export const PushState = z.object({
  /** The server's key, which a browser subscribes with: an uncompressed point of P-256 in base64url (RFC 8292). */
  publicKey: z.string(),
  /** The session's own subscription. `endpoint` of `ntfy` is the topic; its token is never shown. */
  subscribed: z
    .object({ service: z.enum(['web_push', 'ntfy']), endpoint: z.string(), kinds: PushKinds })
    .nullable(),
});
named.add(PushState, { id: 'PushState' });
export type PushState = z.infer<typeof PushState>;
