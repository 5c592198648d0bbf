/** Sessions of people: keys that may act for an account, and how a new one gets in. `sessions`, `invitations`, `logins`. */
import * as z from 'zod';
import { BridgeId, SessionId } from '../ids.ts';
import { SESSION_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { nameInLine } from '../text/plain-sight.ts';

/** The public key of a session: a point of the curve P-256, as a JWK has it (RFC 7518, section 6.2.1). */
export const SessionKey = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.base64url().length(SESSION_LIMITS.coordinateChars),
  y: z.base64url().length(SESSION_LIMITS.coordinateChars),
});
named.add(SessionKey, { id: 'SessionKey' });
export type SessionKey = z.infer<typeof SessionKey>;

/** What holds the key. Only a machine gets tokens for bridges. */
export const SessionKind = z.enum(['machine', 'browser']);
named.add(SessionKind, { id: 'SessionKind' });
export type SessionKind = z.infer<typeof SessionKind>;

/** How a session calls itself: a host's name. What hides or reorders text is refused, because people decide by it. */
export const SessionName = z
  .string()
  .trim()
  .min(1)
  .max(SESSION_LIMITS.maxNameChars)
  .regex(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u, 'must be visible characters')
  .refine((name) => nameInLine(name) === name, { error: 'must be visible characters' });

/**
 * Proves that the sender has the key: a JWT that the key has signed (ES256, RFC 7515), with `aud` `drawbridge-session`,
 * `iat` now and a `jti` of its own. `sub` binds it to its purpose: the secret of `POST sessions`, the session's id of
 * `POST sessions/token`. The header of a new key's proof has the key as `jwk`.
 */
const Proof = z.string().min(1).max(SESSION_LIMITS.maxProofChars);

/** The secret of an invitation or of a login. It counts once. */
export const EntrySecret = z
  .string()
  .regex(/^db[il]_[\w-]{43}$/, 'must be the secret of an invitation or a login');

/** An invitation in the lists. It says nothing of the secret. */
export const InvitationId = z.string().regex(/^inv_[\w-]{16}$/, 'must be the id of an invitation');

/** `POST invitations`. */
export const Invitation = z.object({
  id: InvitationId,
  secret: EntrySecret,
  /** For a person: the server's address with the secret behind `#`, which no browser sends. */
  link: z.string(),
  /** The account that the new session acts for. */
  account: z.string(),
  expires: z.iso.datetime(),
});
named.add(Invitation, { id: 'Invitation' });
export type Invitation = z.infer<typeof Invitation>;

/** An invitation that no device has used. */
export const PendingInvitation = z.object({
  id: InvitationId,
  account: z.string(),
  /** The session that made it; null if its maker's token had none. */
  by: SessionId.nullable(),
  created: z.iso.datetime(),
  expires: z.iso.datetime(),
});
named.add(PendingInvitation, { id: 'PendingInvitation' });
export type PendingInvitation = z.infer<typeof PendingInvitation>;

/** `GET invitations` and `GET operator/invitations`, the oldest first. */
export const InvitationList = z.object({ items: z.array(PendingInvitation) });
named.add(InvitationList, { id: 'InvitationList' });
export type InvitationList = z.infer<typeof InvitationList>;

/** `POST logins`: a machine without any secret asks to be let in. */
export const LoginRequest = z.strictObject({
  name: SessionName,
  kind: SessionKind,
  /** Its `sub` is `login`. */
  proof: Proof,
});
named.add(LoginRequest, { id: 'LoginRequest' });
export type LoginRequest = z.infer<typeof LoginRequest>;

/** Eight letters without vowels, which spell no word (RFC 8628, section 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';

const HALF = `[${LETTERS}]{4}`;

/** The code of a login as a person may type it: in any case, with or without its dash. */
export const LoginCode = z
  .string()
  .regex(new RegExp(`^${HALF}-?${HALF}$`, 'i'), 'must be eight letters, such as BCDF-GHJK');

/** The one spelling of a {@link LoginCode}. */
export function plainCode(typed: string): string {
  return typed.toUpperCase().replace('-', '');
}

/** A code from random bytes. One over 239 is skipped, so that every letter is as likely; undefined with too few bytes. */
export function loginCodeFrom(bytes: Uint8Array): string | undefined {
  const even = [...bytes].filter((byte) => byte < 256 - (256 % LETTERS.length));
  if (even.length < 8) return undefined;
  return even
    .slice(0, 8)
    .map((byte) => LETTERS[byte % LETTERS.length])
    .join('');
}

/** The answer to `POST logins`. */
export const Login = z.object({
  /** For `POST sessions`, which answers `LOGIN_PENDING` until a person has decided. */
  secret: EntrySecret,
  /** What the person types: `BCDF-GHJK`. */
  code: z.string(),
  expires: z.iso.datetime(),
  /** Between two attempts of `POST sessions`. */
  intervalSeconds: z.int(),
});
named.add(Login, { id: 'Login' });
export type Login = z.infer<typeof Login>;

/** `GET logins/{code}`: what asks to be let in. */
export const LoginView = z.object({
  name: z.string(),
  kind: SessionKind,
  /** Both sides show its fingerprint. */
  key: SessionKey,
  /** The network address that the request came from; absent where the server does not see it. */
  address: z.string().optional(),
  created: z.iso.datetime(),
});
named.add(LoginView, { id: 'LoginView' });
export type LoginView = z.infer<typeof LoginView>;

/** `POST logins/{code}`. `key` is the one that the person was shown. */
export const LoginDecision = z.strictObject({
  decision: z.enum(['approve', 'refuse']),
  key: SessionKey,
});
named.add(LoginDecision, { id: 'LoginDecision' });
export type LoginDecision = z.infer<typeof LoginDecision>;

/** `POST sessions`. The same secret and key again give the same session, so that a lost answer costs nothing. */
export const SessionRequest = z.strictObject({
  secret: EntrySecret,
  name: SessionName,
  kind: SessionKind,
  /** Its `sub` is the secret. */
  proof: Proof,
});
named.add(SessionRequest, { id: 'SessionRequest' });
export type SessionRequest = z.infer<typeof SessionRequest>;

/** The answer to `POST sessions`. */
export const NewSession = z.object({ session: SessionId, account: z.string() });
named.add(NewSession, { id: 'NewSession' });
export type NewSession = z.infer<typeof NewSession>;

/** `POST sessions/token`. */
export const SessionTokenRequest = z.strictObject({
  account: z.string().min(1).max(SESSION_LIMITS.maxAccountChars),
  session: SessionId,
  /** For a token that runs this bridge. Absent: one with which its person acts. */
  bridge: BridgeId.optional(),
  /** Its `sub` is the session's id. */
  proof: Proof,
});
named.add(SessionTokenRequest, { id: 'SessionTokenRequest' });
export type SessionTokenRequest = z.infer<typeof SessionTokenRequest>;

/** The answer to `POST sessions/token`. */
export const SessionToken = z.object({ token: z.string(), expires: z.iso.datetime() });
named.add(SessionToken, { id: 'SessionToken' });
export type SessionToken = z.infer<typeof SessionToken>;

/** A session in the list of its account. */
export const Session = z.object({
  id: SessionId,
  name: z.string(),
  kind: SessionKind,
  key: SessionKey,
  created: z.iso.datetime(),
  /** When it was last used, exact to an hour. */
  lastUsed: z.iso.datetime(),
  /** Whether the request for the list came from it. */
  current: z.boolean(),
});
named.add(Session, { id: 'Session' });
export type Session = z.infer<typeof Session>;

/** `GET sessions`, the newest first. */
export const SessionList = z.object({ items: z.array(Session) });
named.add(SessionList, { id: 'SessionList' });
export type SessionList = z.infer<typeof SessionList>;
