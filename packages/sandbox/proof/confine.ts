/**
 * Chooses how commands are confined: by bubblewrap, on macOS by sandbox-runtime, where a self-test proves that it works,
 * else not at all.
 */
import { type CommandUser, chooseAccount } from '../account.ts';
import { type Bubblewrap, findBubblewrap } from '../launch/bubblewrap.ts';
import { bubblewrapConfinement } from '../launch/bubblewrap-confinement.ts';
import { type Confinement, type SandboxSurroundings, unconfined } from '../launch/confinement.ts';
import { type MemoryGroup, shareMemoryGroup } from '../launch/memory-group.ts';
import { findRuntime } from '../launch/runtime.ts';
import { runtimeConfinement } from '../launch/runtime-confinement.ts';
import { seatbelt } from '../launch/seatbelt.ts';
import { joinNeighbours } from './neighbours.ts';
import { selfTest } from './self-test.ts';

/**
 * Finds out what this machine can do by starting the real sandbox. On any failure the kind is `none` and the detail
 * says why; a missing program never makes it reject. It leaves nothing behind in the workspace.
 */
export async function probeConfinement(surroundings: SandboxSurroundings): Promise<Confinement> {
  if (process.platform === 'darwin') return await confineByRuntime(surroundings);
  const [found, chosen] = await Promise.all([
    findBubblewrap(),
    chooseAccount(surroundings.workspace),
  ]);
  if (!found.ok) return unconfined(surroundings, found.reason);
  if (!chosen.ok) return unconfined(surroundings, chosen.reason);
  const neighbours = await joinNeighbours(surroundings.workspace);
  const { overlapping } = neighbours;
  const memory = await shareMemoryGroup();
  const confineBy = async (bubblewrap: Bubblewrap) =>
    await confineWith(bubblewrap, chosen.account, surroundings, memory);
  const confinement =
    overlapping === undefined
      ? await confine(found.bubblewrap, confineBy)
      : unconfined(surroundings, overlapReason(overlapping));
  const leave = () => {
    confinement[Symbol.dispose]();
    memory?.[Symbol.dispose]();
    neighbours[Symbol.dispose]();
  };
  if (confinement.kind !== 'none') return { ...confinement, [Symbol.dispose]: leave };
  leave(); // At once, and only once: other bridges of this process may be in the group.
  return confinement;
}

function overlapReason(process: number): string {
  return (
    `The bridge of process ${process} confines commands in this folder, or in one inside or around it, and two sandboxes ` +
    'cannot share a folder: end that bridge, and start this one again.'
  );
}

async function confine(
  bubblewrap: Bubblewrap,
  confineBy: (bubblewrap: Bubblewrap) => Promise<Confinement>,
): Promise<Confinement> {
  const entered = await confineBy(bubblewrap);
  if (entered.kind === 'bubblewrap') return entered;
  // Some versions of unshare are too old. Some systems let bubblewrap run but forbid a second one inside, for example
  // AppArmor's profile on Ubuntu.
  const { nsenter, unshare } = bubblewrap;
  const without = [
    ...(nsenter && unshare ? [{ ...bubblewrap, unshare: undefined }] : []),
    ...(nsenter ? [{ ...bubblewrap, nsenter: undefined }] : []),
  ];
  for (const lesser of without) {
    const confinement = await confineBy(lesser);
    if (confinement.kind === 'bubblewrap') return confinement;
  }
  return entered;
}

async function confineWith(
  bubblewrap: Bubblewrap,
  account: CommandUser,
  surroundings: SandboxSurroundings,
  memory: MemoryGroup | undefined,
): Promise<Confinement> {
  const made = await bubblewrapConfinement(bubblewrap, account, surroundings, memory);
  return await proven(made, account, surroundings);
}

async function proven(
  made: Awaited<ReturnType<typeof bubblewrapConfinement>>,
  account: CommandUser,
  surroundings: SandboxSurroundings,
): Promise<Confinement> {
  if (!made.ok) return unconfined(surroundings, made.reason);
  const failure = await selfTest(made.confinement, account, surroundings);
  if (failure === undefined) return made.confinement;
  made.confinement[Symbol.dispose]();
  return unconfined(surroundings, failure);
}

/**
 * Two bridges may share a folder: no rule of one is made while commands of the other run. A person installs the runtime,
 * so it is looked for at each start.
 */
async function confineByRuntime(surroundings: SandboxSurroundings): Promise<Confinement> {
  const [found, chosen] = await Promise.all([
    findRuntime(surroundings),
    chooseAccount(surroundings.workspace),
  ]);
  if (!found.ok) return unconfined(surroundings, found.reason);
  if (!chosen.ok) return unconfined(surroundings, chosen.reason);
  const { account } = chosen;
  const base = { runtime: found.runtime, platform: seatbelt, account };
  const made = await runtimeConfinement(base, surroundings);
  return await proven(made, account, surroundings);
}
