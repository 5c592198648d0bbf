/** Checks that the session of a token has not ended. */
import type { Env } from '../env.ts';
import { accountOf } from '../objects.ts';
import { sessionEnded } from '../people/session-ended.ts';
import { reach } from '../reach.ts';
import { SESSION_KEEPING } from './limits.ts';

/** When each session was last found alive, in this isolate's memory. */
const alive = new Map<string, number>();

/**
 * A request that changes something asks the account every time. One that only reads trusts an answer of the last
 * second: asking each time would cost as much as the read.
 * @throws {DrawbridgeError} SESSION_ENDED
 */
export async function requireLiving(
  env: Env,
  { account, session, isRead }: { account: string; session: string; isRead: boolean },
): Promise<void> {
  const nowMs = Date.now();
  const sinceMs = Math.abs(nowMs - (alive.get(session) ?? Number.NEGATIVE_INFINITY));
  if (isRead && sinceMs < SESSION_KEEPING.trustedMs) return;
  if (!(await reach<boolean>(() => accountOf(env, account).usesSession(session)))) {
    alive.delete(session);
    throw sessionEnded();
  }
  alive.delete(session); // The newest goes last.
  alive.set(session, nowMs);
  const [oldest] = alive.keys();
  if (oldest !== undefined && alive.size > SESSION_KEEPING.maxTrusted) alive.delete(oldest);
}
