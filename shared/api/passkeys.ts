/** Passkeys, with which a person signs in without another device: `passkeys`, `passkeys/login`. */
import * as z from 'zod';
import { PASSKEY_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { CredentialId, PasskeyPlace, PasskeySignature } from '../wire/passkey.ts';
import { EntrySecret, SessionKey, SessionName } from './sessions.ts';

/** `POST passkeys`: one that the caller's authenticator has made, for a key of P-256 (ES256). */
export const NewPasskey = z.strictObject({
  ...PasskeyPlace.shape,
  name: SessionName.max(PASSKEY_LIMITS.maxNameChars),
  publicKey: SessionKey,
});
named.add(NewPasskey, { id: 'NewPasskey' });
export type NewPasskey = z.infer<typeof NewPasskey>;

/** A passkey in the list of its account. */
export const Passkey = z.object({
  ...PasskeyPlace.shape,
  name: z.string(),
  created: z.iso.datetime(),
  /** When it last let a device in; null before that. */
  lastUsed: z.iso.datetime().nullable(),
});
named.add(Passkey, { id: 'Passkey' });
export type Passkey = z.infer<typeof Passkey>;

/** `GET passkeys`, the oldest first. */
export const PasskeyList = z.object({ items: z.array(Passkey) });
named.add(PasskeyList, { id: 'PasskeyList' });
export type PasskeyList = z.infer<typeof PasskeyList>;

/** `POST passkeys/login`: approves a login as its own person, who has this passkey. */
export const PasskeyLogin = z.strictObject({
  /** Of `POST logins`. The passkey signs `loginText` of it (shared/wire/approval-text.ts). */
  secret: EntrySecret,
  credentialId: CredentialId,
  signature: PasskeySignature,
});
named.add(PasskeyLogin, { id: 'PasskeyLogin' });
export type PasskeyLogin = z.infer<typeof PasskeyLogin>;
