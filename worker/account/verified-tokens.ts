/** Remembers checked tokens: a client sends the same token with every request, and the check is the largest cost. */

import type { SecretKeys } from '../secret.ts';
import { AUTH_LIMITS } from './limits.ts';

interface Verified<Claims> {
  readonly claims: Claims;
  readonly keys: SecretKeys;
  readonly expiresMs: number;
}

/** Lives in this isolate's memory. A token counts only with the keys that it was checked with, and until it expires. */
export class VerifiedTokens<Claims> {
  readonly #tokens = new Map<string, Verified<Claims>>();

  find(token: string, keys: SecretKeys, nowMs: number): Claims | undefined {
    const known = this.#tokens.get(token);
    return known?.keys === keys && nowMs < known.expiresMs ? known.claims : undefined;
  }

  /** `expires` is the claim `exp`, in seconds (RFC 7519, section 4.1.4). Deletes the oldest token first. */
  remember(token: string, keys: SecretKeys, claims: Claims, expires: number): void {
    this.#tokens.set(token, { claims, keys, expiresMs: expires * 1000 });
    const [oldest] = this.#tokens.keys();
    if (oldest !== undefined && this.#tokens.size > AUTH_LIMITS.maxVerifiedTokens) {
      this.#tokens.delete(oldest);
    }
  }
}
