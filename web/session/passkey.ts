/** The passkeys that this browser's authenticator makes and signs with (Web Authentication Level 3). */
import { encodeBase64Url, type PasskeySignature } from '../../client/index.ts';
import { decodeBase64Url } from '../../shared/text/base64url.ts';
import type { DeviceKey } from '../../shared/wire/approvals.ts';
import { words } from '../words/settings.ts';

/** A new passkey of this page. */
export interface MadePasskey {
  readonly credentialId: string;
  readonly origin: string;
  readonly publicKey: DeviceKey['publicKey'];
}

/** Whether this browser has passkeys here at all: they need https and a name, not an address, or localhost. */
export function hasPasskeys(): boolean {
  return 'PublicKeyCredential' in globalThis && !/^[\d.]+$|^\[/.test(location.hostname);
}

/**
 * Has the authenticator make one, after it has asked its person. `label` is what its own list shows. `owner` is whose it
 * is: it takes the place of an older one of the same owner there, also one of another browser that shares its vault.
 * `known` are those that it must not make again.
 * @throws {PasskeyRefusal}
 */
export async function makePasskey(
  label: string,
  owner: string,
  known: readonly string[] = [],
): Promise<MadePasskey> {
  const id = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(owner));
  const credential = await ask(() =>
    navigator.credentials.create({
      publicKey: {
        rp: { name: 'Drawbridge', id: location.hostname },
        user: { id, name: label, displayName: label },
        challenge: crypto.getRandomValues(new Uint8Array(32)), // Without attestation nobody reads it.
        pubKeyCredParams: [{ type: 'public-key', alg: ES256 }],
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        excludeCredentials: known.map(toDescriptor),
      },
    }),
  );
  const { response } = credential as PublicKeyCredential & {
    readonly response: AuthenticatorAttestationResponse;
  };
  const spki = response.getPublicKey();
  if (response.getPublicKeyAlgorithm() !== ES256 || !spki) throw new PasskeyRefusal('kind');
  const key = await crypto.subtle.importKey('spki', spki, P_256, true, ['verify']);
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', key);
  const { origin } = location;
  return { credentialId: credential.id, origin, publicKey: { kty: 'EC', crv: 'P-256', x, y } };
}

/** Has one sign the text, after its person was asked: the one with this id, or which the person chooses. @throws {PasskeyRefusal} */
export async function signByPasskey(
  text: string,
  credentialId?: string,
): Promise<{ readonly credentialId: string; readonly signature: PasskeySignature }> {
  const challenge = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const allowCredentials = credentialId === undefined ? [] : [toDescriptor(credentialId)];
  const credential = await ask(() =>
    navigator.credentials.get({
      publicKey: {
        challenge,
        rpId: location.hostname,
        userVerification: 'required',
        allowCredentials,
      },
    }),
  );
  const { response } = credential as PublicKeyCredential & {
    readonly response: AuthenticatorAssertionResponse;
  };
  const signature = {
    authenticatorData: encodeBase64Url(new Uint8Array(response.authenticatorData)),
    clientData: encodeBase64Url(new Uint8Array(response.clientDataJSON)),
    value: encodeBase64Url(plainOf(new Uint8Array(response.signature))),
  };
  return { credentialId: credential.id, signature };
}

/**
 * Says to the person why there is no passkey or signature: `cancelled` by the person or after a time, `known` to this authenticator
 * already, or of no `kind` that counts here.
 */
export class PasskeyRefusal extends Error {
  override readonly name = 'PasskeyRefusal';
  readonly why: 'cancelled' | 'known' | 'kind';

  constructor(why: PasskeyRefusal['why'], options?: ErrorOptions) {
    super(words.passkeyRefused[why], options);
    this.why = why;
  }
}

async function ask(asking: () => Promise<Credential | null>): Promise<Credential> {
  try {
    const credential = await asking();
    if (credential) return credential;
  } catch (cause) {
    const { name }: { name?: unknown } = Object(cause);
    if (name === 'InvalidStateError') throw new PasskeyRefusal('known', { cause });
    // Some browsers end what was asked before (AbortError), and others refuse what is asked meanwhile (OperationError).
    const isOver = ['NotAllowedError', 'AbortError', 'OperationError'].includes(String(name));
    throw new PasskeyRefusal(isOver ? 'cancelled' : 'kind', { cause });
  }
  throw new PasskeyRefusal('cancelled');
}

/** Of COSE: ECDSA on P-256 with SHA-256. */
const ES256 = -7;
const P_256 = { name: 'ECDSA', namedCurve: 'P-256' };

function toDescriptor(credentialId: string): PublicKeyCredentialDescriptor {
  return { type: 'public-key', id: decodeBase64Url(credentialId) };
}

/** The two numbers of an ECDSA signature in 32 bytes each, as WebCrypto takes them, from DER (RFC 3279, section 2.2.3). */
function plainOf(der: Uint8Array): Uint8Array {
  const plain = new Uint8Array(2 * NUMBER_BYTES);
  let at = 2;
  for (const end of [NUMBER_BYTES, 2 * NUMBER_BYTES]) {
    const next = at + 2 + (der[at + 1] ?? 0);
    // Without the zero byte in front of a number whose first bit is set.
    const number = der.subarray(at + 2, next).slice(-NUMBER_BYTES);
    plain.set(number, end - number.length);
    at = next;
  }
  return plain;
}

const NUMBER_BYTES = 32;
