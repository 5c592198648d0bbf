/** Chooses how commands are confined: by bubblewrap where a self-test proves that it works, else not at all. */
import { type CommandUser, chooseAccount } from '../account.ts';
import { type Bubblewrap, findBubblewrap } from '../launch/bubblewrap.ts';
import { bubblewrapConfinement } from '../launch/bubblewrap-confinement.ts';
import { type Confinement, type Surroundings, unconfined } from '../launch/confinement.ts';
import { type MemoryGroup, shareMemoryGroup } from '../launch/memory-group.ts';
import { joinNeighbours } from './neighbours.ts';
import { selfTest } from './self-test.ts';

/**
 * Finds out what this machine can do by starting the real sandbox. On any failure the kind is `none` and the detail
 * says why; a missing program never makes it reject. It leaves nothing behind in the workspace.
 */
export async function probeConfinement(surroundings: Surroundings): Promise<Confinement> {
  const found = await findBubblewrap();
  if (!found.ok) return unconfined(surroundings, found.reason);
  const chosen = await chooseAccount(surroundings.workspace);
  if (!chosen.ok) return unconfined(surroundings, chosen.reason);
  const neighbours = await joinNeighbours(surroundings.workspace);
  const { overlapping } = neighbours;
  const memory = await shareMemoryGroup();
  const confinement =
    overlapping === undefined
      ? await confine(found.bubblewrap, chosen.account, surroundings, memory)
      : unconfined(surroundings, overlapReason(overlapping));
  if (confinement.kind === 'none') {
    memory?.[Symbol.dispose]();
    neighbours[Symbol.dispose]();
  }
  return {
    ...confinement,
    [Symbol.dispose]: () => {
      confinement[Symbol.dispose]();
      memory?.[Symbol.dispose]();
      neighbours[Symbol.dispose]();
    },
  };
}

function overlapReason(process: number): string {
  return (
    `The bridge of process ${process} confines commands in this folder, or in one inside or around it, and two sandboxes ` +
    'cannot share a folder: end that bridge, and start this one again.'
  );
}

async function confine(
  bubblewrap: Bubblewrap,
  account: CommandUser,
  surroundings: Surroundings,
  memory: MemoryGroup | undefined,
): Promise<Confinement> {
  const entered = await confineWith(bubblewrap, account, surroundings, memory);
  if (entered.kind === 'bubblewrap' || bubblewrap.nsenter === undefined) return entered;
  // Some systems let bubblewrap run but forbid a second one inside, for example AppArmor's profile on Ubuntu.
  const withoutBase = { ...bubblewrap, nsenter: undefined };
  const held = await confineWith(withoutBase, account, surroundings, memory);
  return held.kind === 'bubblewrap' ? held : entered;
}

async function confineWith(
  bubblewrap: Bubblewrap,
  account: CommandUser,
  surroundings: Surroundings,
  memory: MemoryGroup | undefined,
): Promise<Confinement> {
  const made = await bubblewrapConfinement(bubblewrap, account, surroundings, memory);
  if (!made.ok) return unconfined(surroundings, made.reason);
  const failure = await selfTest(made.confinement, account, surroundings);
  if (failure === undefined) return made.confinement;
  made.confinement[Symbol.dispose]();
  return unconfined(surroundings, failure);
}
