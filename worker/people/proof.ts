/** Checks the proofs by which a session shows that it has its key. */
import * as z from 'zod';
import { SessionKey } from '../../shared/api/sessions.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { CLOCK_LIMITS } from '../../shared/limits.ts';
import { SECOND } from '../../shared/units.ts';
import { PROOF_AUDIENCE } from '../../shared/wire/tokens.ts';
import { unauthenticated, unverified, verifyJwt } from '../secret.ts';

const ProofClaims = z.object({
  sub: z.string(),
  iat: z.number(),
  jti: z.string().min(1).max(64),
  /** Of a new key: the host name of the server that its device was given. */
  server: z.string().optional(),
});
type ProofClaims = z.infer<typeof ProofClaims>;

/** The header of a proof of a new key. */
const KeyHeader = z.object({ jwk: SessionKey });

/** The id of a proof that `key` has signed for `subject` just now. @throws UNAUTHENTICATED, CLOCK_OFF (`nowMs`) */
export async function checkProof(proof: string, key: SessionKey, subject: string): Promise<string> {
  return (await checkClaims(proof, key, subject)).jti;
}

async function checkClaims(proof: string, key: SessionKey, subject: string): Promise<ProofClaims> {
  const claims = await readClaims(proof, key, subject);
  const { iat } = claims;
  const nowMs = Date.now();
  if (Math.abs(nowMs - iat * SECOND) <= CLOCK_LIMITS.maxOffMs) return claims;
  const [theirs, ours] = [iat * SECOND, nowMs].map((ms) => new Date(ms).toISOString());
  throw new DrawbridgeError(
    'CLOCK_OFF',
    `The proof was made at ${theirs}, and the server's clock shows ${ours}: set the clock that is wrong`,
    { details: { nowMs } },
  );
}

/**
 * The key in the header of a proof, which proves that the sender has it, and that it was made for this server: another
 * one could pass on what a device signs for it, and be let in as that device. Throws like {@link checkProof}.
 */
export async function newKeyIn(
  proof: string,
  subject: string,
  isOwnHost: (host: string) => boolean,
): Promise<SessionKey> {
  const key = KeyHeader.safeParse(unverified(proof, 0)).data?.jwk;
  if (!key) throw unauthenticated('The proof has no key in its header (`jwk`, P-256)');
  const { server } = await checkClaims(proof, key, subject);
  if (server !== undefined && isOwnHost(server)) return key;
  throw unauthenticated(
    server === undefined
      ? 'The proof does not name the server that it was made for: update the client'
      : `The proof was made for ${server}, which is not the address of this server (PUBLIC_URL)`,
  );
}

async function readClaims(proof: string, key: SessionKey, subject: string) {
  try {
    const expected = { algorithms: ['ES256'], audience: PROOF_AUDIENCE, subject };
    return ProofClaims.parse(await verifyJwt(proof, key, expected));
  } catch (error) {
    throw unauthenticated('The proof is not valid: it was not made by this key for this', error);
  }
}
