/**
 * Finds what a deleted account has left behind, such as a fork that a crash kept from its list, and has the account
 * delete it. Only what is certain counts: whatever cannot be read or reached stays.
 */
import type { LeftQuery, LeftReport } from '../shared/api/left.ts';
import type { Env } from './env.ts';
import { noteDamage } from './health/damage.ts';
import { logEvent } from './health/log.ts';
import { accountOf, directoryOf } from './objects.ts';
import type { Belonging } from './ports/account.ts';
import { inTime, reach, storageFault } from './reach.ts';
import { Pace } from './storage/pace.ts';

/** Asks no object before an account was deleted. */
export async function giveUpLeft(env: Env, query: LeftQuery): Promise<LeftReport> {
  const { accounts, newest: deletions } = await reach(
    async () => await directoryOf(env).deletions(),
  );
  const deleted = new Set(accounts);
  const pace = new Pace();
  let left = 0;
  for (const type of ['conversation', 'bridge'] as const) {
    for (const object of deleted.size === 0 ? [] : query[`${type}s`]) {
      if (await isGivenUp(env, type, object, deleted)) left++;
      await pace.rest();
    }
  }
  return { deletions, left };
}

async function isGivenUp(
  env: Env,
  type: 'conversation' | 'bridge',
  object: string,
  deleted: ReadonlySet<string>,
): Promise<boolean> {
  const objects = type === 'conversation' ? env.CONVERSATIONS : env.TUNNELS;
  try {
    const owned = await inTime<Belonging | null>(objects.get(objects.idFromString(object)).owner());
    const isItself = owned && String(objects.idFromName(owned.id)) === object;
    if (!isItself || !deleted.has(owned.account)) return false;
    // Since its deletion it may have begun anew.
    const part = { type, id: owned.id };
    if (!(await inTime<boolean>(accountOf(env, owned.account).left(part)))) return false;
    logEvent('left_behind', { account: owned.account, [type]: owned.id });
    return true;
  } catch (error) {
    if (storageFault(error, true)?.code === 'DAMAGED') noteDamage({ object, error });
    return false;
  }
}
