/** Chooses how commands are confined: by bubblewrap where a self-test proves that it works, else not at all. */
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
  const confinement = bubblewrapConfinement(found.bubblewrap, surroundings);
  const failure = await selfTest(confinement, surroundings);
  return failure === undefined ? confinement : unconfined(surroundings, failure);
}
