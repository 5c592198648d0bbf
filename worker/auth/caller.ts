/** Who calls: a bearer token, checked, as an account and what it may do. */
import { createMiddleware } from 'hono/factory';
import { base64url, errors, jwtVerify } from 'jose';
import { z } from 'zod';
import { DrawbridgeError } from '../../shared/errors.ts';
import { BridgeId } from '../../shared/ids.ts';
import { TOKEN_AUDIENCE, TOKEN_ISSUER } from '../../shared/tokens.ts';
import type { Env } from '../env.ts';

const Claims = z.discriminatedUnion('scope', [
  z.object({ sub: z.string().min(1), scope: z.literal('user') }),
  z.object({ sub: z.string().min(1), scope: z.literal('bridge'), bridge: BridgeId }),
]);
type Claims = z.infer<typeof Claims>;

/** The app's context: every route behind {@link authenticate} finds its caller here. */
export interface AppContext {
  Bindings: Env;
  Variables: { caller: Claims };
}

const MIN_SECRET_BYTES = 32;

/** Lets requests through whose token has this scope. */
export function authenticate(scope: Claims['scope']) {
  return createMiddleware<AppContext>(async (c, next) => {
    const claims = await verify(c.req.header('authorization'), c.env.AUTH_SECRET);
    if (claims.scope !== scope) {
      throw new DrawbridgeError(
        'FORBIDDEN',
        `This needs a token with the scope ${scope}, not ${claims.scope}`,
      );
    }
    c.set('caller', claims);
    await next();
  });
}

/** HS256 only: `alg` is fixed here, never taken from the token (RFC 8725, section 3.1). */
async function verify(header: string | undefined, secret: string | undefined): Promise<Claims> {
  const token = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (!token) throw unauthenticated('Send a token: Authorization: Bearer TOKEN');
  try {
    const { payload } = await jwtVerify(token, secretKey(secret), {
      algorithms: ['HS256'],
      issuer: TOKEN_ISSUER,
      audience: TOKEN_AUDIENCE,
      requiredClaims: ['exp', 'sub'],
    });
    return Claims.parse(payload);
  } catch (error) {
    if (error instanceof DrawbridgeError) throw error;
    throw unauthenticated(
      error instanceof errors.JWTExpired
        ? 'The token has expired: get a new one'
        : 'The token is not valid',
      error,
    );
  }
}

function secretKey(secret = ''): Uint8Array {
  try {
    const key = base64url.decode(secret);
    if (key.length >= MIN_SECRET_BYTES) return key;
  } catch {
    // Not base64url: as good as none.
  }
  throw new DrawbridgeError(
    'NOT_CONFIGURED',
    `AUTH_SECRET must be set to at least ${MIN_SECRET_BYTES} random bytes, base64url`,
  );
}

function unauthenticated(message: string, cause?: unknown): DrawbridgeError {
  return new DrawbridgeError('UNAUTHENTICATED', message, { cause });
}
