/** The keys of apps, and the tokens that they make: `keys` and `tokens`. */
import * as z from 'zod';
import { BridgeId } from '../ids.ts';
import { KEY_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { Budget } from '../wire/budget.ts';

/**
 * What a token may do. A person may do everything.
 * `read`: read conversations and follow them. `chat`: send messages, answer questions, stop responses, take changes
 * back. `agents`: agents in the background. `manage`: rename, archive, fork and delete. `approve`: pass on signed
 * answers to approvals. `machines`: see bridges and their processes.
 */
export const Right = z.enum(['read', 'chat', 'agents', 'manage', 'approve', 'machines']);
named.add(Right, { id: 'Right' });
export type Right = z.infer<typeof Right>;

/** The name of an app's key: it is the `iss` of the app's tokens and a part of its users' accounts. */
export const KeyId = z
  .string()
  .regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'must be lower-case letters, digits and - between them')
  .max(KEY_LIMITS.maxIdChars)
  .refine((id) => id !== 'drawbridge', 'is the name of Drawbridge’s own tokens');

/** The app's own id of a user, `sub` in its tokens. Without blanks and control characters, which could hide a user. */
export const AppUser = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without blanks')
  .max(KEY_LIMITS.maxUserChars);

/** As a browser writes it (RFC 6454, section 6.2): in lower case, without a path. */
const Origin = z
  .string()
  .regex(/^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?$/, {
    error: 'must be an origin such as https://shop.example.com, without a path',
  })
  .max(KEY_LIMITS.maxOriginChars);

const Rate = z.int().positive().max(KEY_LIMITS.maxRate);
const Tokens = z.int().positive();

/** The address of an identity provider: https, or a server of this machine. */
const ProviderUrl = z
  .string()
  .regex(/^(?:https:\/\/|http:\/\/(?:localhost|127\.0\.0\.1)[:/])\S+$/, 'must be an https URL')
  .max(KEY_LIMITS.maxUrlChars);

/** The identity provider that signs the tokens of the app's users (OpenID Connect, Cloudflare Access). */
export const KeyProvider = z.strictObject({
  /** `iss` of its tokens. */
  issuer: ProviderUrl,
  /** Where its public keys are (RFC 7517). */
  jwksUrl: ProviderUrl,
  /** `aud` of its tokens for this app. Tokens for others of its apps count for nothing here. */
  audience: z.string().min(1).max(KEY_LIMITS.maxUrlChars),
  /** The claim that names the user. One that users can change, such as a nickname, would let them be others. */
  claim: z.string().min(1).max(KEY_LIMITS.maxIdChars),
});
export type KeyProvider = z.infer<typeof KeyProvider>;

/** What a key allows its app, and each user of the app. A limit that is absent is the server's own. */
export const KeyTerms = z.strictObject({
  can: z.array(Right).min(1),
  /** Web pages that may use the app's tokens. Empty: only programs. */
  origins: z.array(Origin).max(KEY_LIMITS.maxOrigins),
  /** The models that messages may name; the first one answers those that name none. Empty: every model. */
  models: z.array(z.string().min(1)).max(KEY_LIMITS.maxModels),
  /** Bridges that messages may name; new conversations get the first. Their machines must let the app's users in. */
  bridges: z.array(BridgeId).max(KEY_LIMITS.maxBridges).optional(),
  /** Of one user. */
  requestsPerMinute: Rate.optional(),
  runsPerMinute: Rate.optional(),
  /** Tokens of models that one user may use in a day (UTC). Responses that run when they are used up go on. */
  tokensPerDay: Tokens.optional(),
  /** Of all users together. */
  appRunsPerMinute: Rate.optional(),
  appTokensPerDay: Tokens.optional(),
  /** Bounds the budget of each response, or is its budget where the request has none. */
  budget: Budget.optional(),
  /** Signs tokens of the key's users beside the app's backend. */
  provider: KeyProvider.optional(),
});
named.add(KeyTerms, { id: 'KeyTerms' });
export type KeyTerms = z.infer<typeof KeyTerms>;

/** `POST keys`. */
export const KeyRequest = KeyTerms.extend({
  id: KeyId,
  provider: KeyProvider.extend({ claim: KeyProvider.shape.claim.default('sub') }).optional(),
  can: KeyTerms.shape.can.default(['chat', 'read']),
  origins: KeyTerms.shape.origins.default([]),
  models: KeyTerms.shape.models.default([]),
});
named.add(KeyRequest, { id: 'KeyRequest' });
export type KeyRequest = z.input<typeof KeyRequest>;

/** A key as its operator sees it. */
export const AppKey = z.object({ ...KeyTerms.shape, id: KeyId, created: z.iso.datetime() });
named.add(AppKey, { id: 'AppKey' });
export type AppKey = z.infer<typeof AppKey>;

/** The answer to `POST keys` and `POST keys/{id}/secret`, the only ones that have the secret. */
export const NewKey = AppKey.extend({
  /** Signs the app's tokens: HS256, with the bytes of this text in UTF-8 as its key. */
  secret: z.string(),
});
named.add(NewKey, { id: 'NewKey' });
export type NewKey = z.infer<typeof NewKey>;

/** `GET keys`, in the order of their ids. */
export const KeyList = z.object({ items: z.array(AppKey) });
named.add(KeyList, { id: 'KeyList' });
export type KeyList = z.infer<typeof KeyList>;

/** `POST tokens`. */
export const TokenRequest = z.strictObject({
  user: AppUser,
  /** Absent: all that the key allows. */
  can: z.array(Right).min(1).optional(),
  /** How long the token is valid. */
  seconds: z
    .int()
    .min(KEY_LIMITS.minTokenSeconds)
    .max(KEY_LIMITS.maxTokenSeconds)
    .default(KEY_LIMITS.tokenSeconds),
});
named.add(TokenRequest, { id: 'TokenRequest' });
export type TokenRequest = z.input<typeof TokenRequest>;

/** A token of one user of an app. */
export const AppToken = z.object({
  token: z.string(),
  /** The account of the user: `app:shop:42`. */
  account: z.string(),
  expires: z.iso.datetime(),
});
named.add(AppToken, { id: 'AppToken' });
export type AppToken = z.infer<typeof AppToken>;
