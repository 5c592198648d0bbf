/** Finds the companions that editors of this machine run for a workspace. */
import { realpath } from 'node:fs/promises';
import { connect } from 'node:net';
import { newDeferred } from '../../../../machine/deferred.ts';
import { isSystemError } from '../../../../machine/system-error.ts';
import { ancestorsOf } from './ancestors.ts';
import type { Announcement } from './announcement.ts';
import type { Candidate, Discovery, PassedOver, SearchPlace } from './candidate.ts';
import { CHOICE, OWN_NAME } from './families.ts';
import { readFiles } from './files.ts';
import { DISCOVERY_LIMITS } from './limits.ts';
import { hostsFor } from './place.ts';
import { type Ranked, rank } from './rank.ts';
import { holds, listRoots, realRoot } from './roots.ts';
import { joinVariables, readVariables } from './variables.ts';

/**
 * Gathers what companions announce, leaves out what cannot be this workspace's editor, and ranks the rest. Connects to
 * the ports, and says nothing there. Rejects with the signal's reason, or after `DISCOVERY_LIMITS.wholeMs` with a
 * `TimeoutError`.
 */
export async function discover(place: SearchPlace, signal: AbortSignal): Promise<Discovery> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(DISCOVERY_LIMITS.wholeMs)]);
  ending.throwIfAborted();
  // A disk that hangs cannot be cancelled, only left.
  const ended = newDeferred<never>();
  ending.addEventListener('abort', () => ended.reject(ending.reason), { once: true });
  return await Promise.race([search(place, ending), ended.promise]);
}

async function search(place: SearchPlace, signal: AbortSignal): Promise<Discovery> {
  const variables = readVariables(place);
  const { chosenPort, shellPorts } = variables;
  const preferred = new Set([...shellPorts, ...(chosenPort === undefined ? [] : [chosenPort])]);
  const files = await readFiles(place, preferred);
  const announced = joinVariables(files.announcements, variables.announcements);
  const isChoiceUnknown =
    chosenPort !== undefined && !announced.some(({ port }) => port === chosenPort);
  const unknown = isChoiceUnknown
    ? [{ source: CHOICE, why: `no companion announces port ${chosenPort}` }]
    : [];
  const sieve = await newSieve(place, chosenPort, signal);
  const sifted = await Promise.all(announced.map(sieve));
  const candidates = sifted.flatMap((each) => ('why' in each ? [] : [each]));
  // Ancestors matter only where there is a choice.
  const ancestors =
    candidates.length > 1 ? await ancestorsOf(place.pid, place.platform, signal) : [];
  const ranked = rank(candidates, { ...variables, ancestors, isAlive });
  const { kept, doubled } = withoutDoubles(ranked);
  const refused = sifted.flatMap((each) => ('why' in each ? [each] : []));
  const passedOver = [variables.passedOver, unknown, files.passedOver, refused, doubled].flat();
  return { ranked: kept, passedOver: bounded(passedOver) };
}

function bounded(passedOver: readonly PassedOver[]): readonly PassedOver[] {
  const more = passedOver.length - DISCOVERY_LIMITS.maxPassedOver;
  if (more <= 0) return passedOver;
  const rest = { source: `${more} more sources`, why: 'too many to list each' };
  return [...passedOver.slice(0, DISCOVERY_LIMITS.maxPassedOver), rest];
}

/** Turns an announcement into a candidate, or says why it is none. */
async function newSieve(place: SearchPlace, chosenPort: number | undefined, signal: AbortSignal) {
  const hosts = await hostsFor(place, signal);
  const workspace = await realpath(place.workspace).catch(() => place.workspace);
  const realRootOf = remember(realRoot);
  const isOpen = remember((port: number) => isListening(port, hosts, signal));
  return async (announced: Announcement): Promise<Ranked | PassedOver> => {
    const { folders, changedMs, ...rest } = announced;
    const refuse = (why: string) => ({ source: announced.source, why });
    if (announced.ide?.name === OWN_NAME) return refuse("it is Drawbridge's own companion");
    const roots =
      folders === undefined ? undefined : await Promise.all(listRoots(folders).map(realRootOf));
    const fitting = roots?.filter((root) => holds(root, workspace, place.platform)) ?? [];
    if (roots && fitting.length === 0 && announced.port !== chosenPort)
      return refuse(whyElsewhere(announced.port, roots));
    if (!(await isOpen(announced.port))) return refuse(whyDead(announced));
    const rootChars = Math.max(0, ...fitting.map((root) => root.length));
    return { ...rest, roots, changedMs, rootChars };
  };
}

function remember<Key, Value>(work: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
  const known = new Map<Key, Promise<Value>>();
  return (key) => {
    const value = known.get(key) ?? work(key);
    known.set(key, value);
    return value;
  };
}

function whyElsewhere(port: number, roots: readonly string[]): string {
  if (roots.length === 0) return `its window has no folder open (port ${port})`;
  return `its window has another folder open (port ${port}): ${roots.join(', ')}`;
}

function whyDead({ port, pid }: Announcement): string {
  const exited = pid !== undefined && !isAlive(pid) ? `, and its process ${pid} has exited` : '';
  return `nothing listens on port ${port}${exited}`;
}

/**
 * Connects, and sends nothing. False only where every host refuses: the window of a companion that left its file
 * behind. Where no answer comes in time, the connection's own time limit decides.
 */
async function isListening(
  port: number,
  hosts: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const answers = await Promise.all(hosts.map((host) => isOpenAt(port, host, signal)));
  return answers.includes(true);
}

async function isOpenAt(port: number, host: string, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  return await new Promise((resolve) => {
    const socket = connect({ port, host, signal, timeout: DISCOVERY_LIMITS.listeningMs });
    const settle = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

/** Signal 0 only asks. A process of another user lives, too. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return isSystemError(error, 'EPERM');
  }
}

/** Companions announce themselves in several ways at once. Of one port and token the best stays. */
function withoutDoubles(ranked: readonly Ranked[]): {
  readonly kept: readonly Candidate[];
  readonly doubled: readonly PassedOver[];
} {
  const kept: Candidate[] = [];
  const doubled: PassedOver[] = [];
  for (const { changedMs: _, rootChars: __, ...candidate } of ranked) {
    const same = kept.find(
      ({ port, token }) => port === candidate.port && token === candidate.token,
    );
    if (same === undefined) kept.push(candidate);
    else doubled.push({ source: candidate.source, why: `it is the same as ${same.source}` });
  }
  return { kept, doubled };
}
