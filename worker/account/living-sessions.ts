/** Checks that the account of a token, and its session, may go on. */
import type { Env } from '../env.ts';
import { accountOf } from '../objects.ts';
import { refused } from '../people/refused.ts';
import type { Refused } from '../ports/account.ts';
import { reach } from '../reach.ts';
import { SESSION_KEEPING } from './limits.ts';

/** When each sender was last found alive, in this isolate's memory. */
const alive = new Map<string, number>();

/** `session`: undefined for a token without one. */
interface Sender {
  readonly account: string;
  readonly session: string | undefined;
  readonly isRead: boolean;
}

/**
 * A request that changes something asks the account every time. One that only reads trusts an answer of the last
 * second: asking each time would cost as much as the read.
 * @throws {DrawbridgeError} SESSION_ENDED, ACCOUNT_SUSPENDED, ACCOUNT_DELETED
 */
export async function requireLiving(env: Env, { account, session, isRead }: Sender): Promise<void> {
  const sender = `${session ?? ''} ${account}`;
  const nowMs = Date.now();
  const sinceMs = Math.abs(nowMs - (alive.get(sender) ?? Number.NEGATIVE_INFINITY));
  if (isRead && sinceMs < SESSION_KEEPING.trustedMs) return;
  alive.delete(sender); // The newest goes last.
  const why = await reach<Refused | null>(() => accountOf(env, account).refusal(session));
  if (why) throw refused(why);
  alive.set(sender, nowMs);
  const [oldest] = alive.keys();
  if (oldest !== undefined && alive.size > SESSION_KEEPING.maxTrusted) alive.delete(oldest);
}
