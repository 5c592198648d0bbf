/** Chooses how commands are confined: by bubblewrap where a self-test proves that it works, else not at all. */
import { chooseAccount } from './account.ts';
import { findBubblewrap } from './bubblewrap.ts';
import { bubblewrapConfinement } from './bubblewrap-confinement.ts';
import { type Confinement, type Surroundings, unconfined } from './confinement.ts';
import { selfTest } from './self-test.ts';

/**
 * Finds out what this machine can do by running the real thing. Whatever fails, the kind is `none` and the detail says
 * why; it never rejects for what a machine lacks. In the workspace it leaves nothing behind.
 */
export async function probeConfinement(surroundings: Surroundings): Promise<Confinement> {
  const found = await findBubblewrap();
  if (!found.ok) return unconfined(surroundings, found.reason);
  const chosen = await chooseAccount(surroundings.workspace);
  if (!chosen.ok) return unconfined(surroundings, chosen.reason);
  const { account } = chosen;
  const made = await bubblewrapConfinement(found.bubblewrap, account, surroundings);
  if (!made.ok) return unconfined(surroundings, made.reason);
  const failure = await selfTest(made.confinement, account, surroundings);
  if (failure === undefined) return made.confinement;
  made.confinement[Symbol.dispose]();
  return unconfined(surroundings, failure);
}
