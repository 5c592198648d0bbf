/** Passkeys and what they sign with (Web Authentication Level 3). shared/wire/assertion.ts checks it. */
import * as z from 'zod';
import { PASSKEY_LIMITS } from '../limits.ts';
import { named } from '../named.ts';

/** The id of a passkey, which its authenticator has made, in base64url. */
export const CredentialId = z.base64url().min(1).max(PASSKEY_LIMITS.maxIdChars);

/** As browsers write one (`location.origin`): anything else never signs. */
const Origin = z
  .string()
  .max(PASSKEY_LIMITS.maxOriginChars)
  .regex(/^https?:\/\/[\w.-]+(:\d+)?$/, 'must be the origin of a page');

/** Where a passkey counts: its authenticator signs for this page alone. */
export const PasskeyPlace = z.object({ credentialId: CredentialId, origin: Origin });
named.add(PasskeyPlace, { id: 'PasskeyPlace' });
export type PasskeyPlace = z.infer<typeof PasskeyPlace>;

/** What a passkey's signature covers beside the text, as the browser gave it, in base64url. */
export const Assertion = z.strictObject({
  authenticatorData: z.base64url().max(PASSKEY_LIMITS.maxDataChars),
  clientData: z.base64url().max(PASSKEY_LIMITS.maxDataChars),
});
named.add(Assertion, { id: 'Assertion' });
export type Assertion = z.infer<typeof Assertion>;

/** A passkey's signature. `value` has the two numbers of 32 bytes that WebCrypto takes, not the DER of authenticators. */
export const PasskeySignature = Assertion.extend({
  value: z.base64url().max(PASSKEY_LIMITS.maxDataChars),
});
named.add(PasskeySignature, { id: 'PasskeySignature' });
export type PasskeySignature = z.infer<typeof PasskeySignature>;
