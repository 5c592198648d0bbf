/** The ways into an account: a link, a code that a signed-in device lets in, a passkey. */
import {
  approveByPasskey,
  beginLogin,
  ClientError,
  enter,
  fingerprintOf,
  type KeptSession,
  loginText,
  newSessionKey,
} from '../../client/index.ts';
import { browserName } from './browser-name.ts';
import { keepSession } from './kept.ts';
import { signByPasskey } from './passkey.ts';
import { SERVER } from './session.ts';

/** The secret in the link of an invitation, or the secret alone. */
export function secretIn(text: string): string | undefined {
  return /\bdbi_[\w-]{43}(?![\w-])/.exec(text)?.[0];
}

/** Rejects with `ENTRY_ENDED` for a secret that counts no more. */
export async function joinWith(secret: string): Promise<KeptSession> {
  const signer = await newSessionKey();
  const made = await enter(SERVER, secret, HOLDER, signer);
  return await kept({ ...made, signer });
}

/** What the person compares and types on a device that is signed in already. */
export interface ShownCode {
  readonly code: string;
  readonly fingerprint: string;
  /** Resolves when the person has let this browser in. Rejects with `LOGIN_REFUSED`, `ENTRY_ENDED`, or the abort. */
  readonly entered: Promise<KeptSession>;
}

export async function showCode(signal: AbortSignal): Promise<ShownCode> {
  const signer = await newSessionKey();
  const { secret, code, intervalSeconds } = await beginLogin(SERVER, HOLDER, signer, signal);
  const wait = async (): Promise<KeptSession> => {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, intervalSeconds * 1_000));
      try {
        return await kept({ ...(await enter(SERVER, secret, HOLDER, signer, signal)), signer });
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ClientError && MEANWHILE.has(error.code))) throw error;
      }
    }
  };
  return { code, fingerprint: await fingerprintOf(signer), entered: wait() };
}

/** Not a decision yet: ask again. */
const MEANWHILE: ReadonlySet<string> = new Set(['LOGIN_PENDING', 'UNREACHABLE', 'RATE_LIMITED']);

/** The person's own passkey lets this browser in. Rejects with a PasskeyRefusal, or `PASSKEY_REFUSED`. */
export async function enterByPasskey(): Promise<KeptSession> {
  const signer = await newSessionKey();
  const { secret } = await beginLogin(SERVER, HOLDER, signer);
  const signed = await signByPasskey(loginText(secret));
  await approveByPasskey(SERVER, { secret, ...signed });
  return await kept({ ...(await enter(SERVER, secret, HOLDER, signer)), signer });
}

async function kept(session: KeptSession): Promise<KeptSession> {
  await keepSession(session);
  // Without it a browser may delete the keys when its disk is full. Firefox asks the person first: nothing waits for it.
  navigator.storage?.persist?.().catch(() => false);
  return session;
}

const HOLDER = { name: browserName(), kind: 'browser' } as const;
