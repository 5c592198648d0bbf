/** Limits the memory that all commands of a bridge take together, where the system lets us. */
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { SANDBOX_LIMITS } from '../limits.ts';

/** A control group by cgroups(7), with this process in it. Disposed of, this process leaves it. */
export interface MemoryGroup extends Disposable {
  readonly bytes: number;
}

/** Files of the system. Tests replace them. */
export interface CgroupFiles {
  readonly mounts: string;
  readonly own: string;
}

/** The group that the bridges of this process share, and how many of them do. */
let shared: { readonly group: Promise<MemoryGroup | undefined>; members: number } | undefined;

/** As {@link enterMemoryGroup}. The first bridge of this process enters the group, and the last one leaves it. */
export async function shareMemoryGroup(): Promise<MemoryGroup | undefined> {
  shared ??= { group: enterMemoryGroup(), members: 0 };
  const joined = shared;
  joined.members += 1;
  const group = await joined.group;
  const leave = () => {
    joined.members -= 1;
    if (joined.members > 0) return;
    group?.[Symbol.dispose]();
    if (shared === joined) shared = undefined;
  };
  if (group === undefined) leave();
  return group && { bytes: group.bytes, [Symbol.dispose]: leave };
}

/**
 * Puts this process into a group of its own; everything that it starts later is born there. The kernel takes some 10 ms
 * to move a process, so commands are not moved one by one. Undefined where this process may make no group: most
 * containers mount control groups read-only. In a desktop session it may make one below the nearest group that it owns.
 */
export async function enterMemoryGroup(
  bytes: number = shareOfMemory(),
  files: CgroupFiles = { mounts: '/proc/self/mountinfo', own: '/proc/self/cgroup' },
): Promise<MemoryGroup | undefined> {
  const parent = findParent(files);
  if (parent === undefined) return undefined;
  removeAbandoned(parent.folder);
  const folder = join(parent.folder, `${NAME}${process.pid}`);
  const leave = () => {
    attempt(() => writeFileSync(join(parent.own, MEMBERS), String(process.pid)));
    attempt(() => rmdirSync(folder));
  };
  if (!attempt(() => mkdirSync(folder))) return undefined;
  try {
    for (const [name, isRequired] of LIMIT_FILES[parent.version]) {
      const written = writeFile(join(folder, name), String(bytes));
      // Without swap, or without swap accounting, this file does not exist.
      await (isRequired ? written : written.catch(() => {}));
    }
    await writeFile(join(folder, MEMBERS), String(process.pid));
  } catch {
    leave();
    return undefined;
  }
  return { bytes, [Symbol.dispose]: leave };
}

const MEMBERS = 'cgroup.procs';

const NAME = 'drawbridge-';

/** In the order in which they must be set. */
const LIMIT_FILES = {
  1: [
    ['memory.limit_in_bytes', true],
    ['memory.memsw.limit_in_bytes', false],
  ],
  2: [
    ['memory.max', true],
    ['memory.swap.max', false],
  ],
} as const;

interface ParentGroup {
  readonly folder: string;
  /** The group that this process is in. */
  readonly own: string;
  readonly version: 1 | 2;
}

/** The nearest group around this process in which it may make a group that counts memory. */
function findParent(files: CgroupFiles): ParentGroup | undefined {
  const own = read(files.own).split('\n');
  for (const line of read(files.mounts).split('\n')) {
    const [head = '', tail = ''] = line.split(' - ');
    const [, , , root = '', place = ''] = head.split(' ');
    const [type = '', , options = ''] = tail.split(' ');
    const isFirst = type === 'cgroup' && options.split(',').includes('memory');
    if (!isFirst && type !== 'cgroup2') continue;
    const path = isFirst ? pathOf(own, /^\d+:(?:.*,)?memory(?:,.*)?:/) : pathOf(own, /^0::/);
    if (path === undefined || !`${path}/`.startsWith(root === '/' ? '/' : `${root}/`)) continue;
    const start = resolve(place, `.${root === '/' ? path : path.slice(root.length)}`);
    const folder = isFirst ? [start].find(mayMakeIn) : nearest(start, place);
    if (folder !== undefined) return { folder, own: start, version: isFirst ? 1 : 2 };
  }
  return undefined;
}

function pathOf(own: readonly string[], prefix: RegExp): string | undefined {
  return own.find((line) => prefix.test(line))?.replace(prefix, '');
}

/** Only a group that hands the memory controller on to its children can limit them. */
function nearest(start: string, place: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const controllers = read(join(folder, 'cgroup.subtree_control')).trim().split(' ');
    if (controllers.includes('memory') && mayMakeIn(folder)) return folder;
    if (folder === place || folder === dirname(folder)) return undefined;
  }
}

/** A process may move between groups only if it can write to `cgroup.procs` of their nearest common parent. */
function mayMakeIn(folder: string): boolean {
  return attempt(() => {
    accessSync(folder, constants.W_OK);
    accessSync(join(folder, MEMBERS), constants.W_OK);
  });
}

/** Removes groups of bridges that were killed. */
function removeAbandoned(parent: string): void {
  const names = readdirSync(parent).filter((name) => name.startsWith(NAME));
  for (const name of names) {
    const isAlive = attempt(() => process.kill(Number(name.slice(NAME.length)), 0));
    if (!isAlive) attempt(() => rmdirSync(join(parent, name)));
  }
}

/** A share of the memory that this process may have, which can be less than the machine has. */
function shareOfMemory(): number {
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(totalmem(), constrained) * SANDBOX_LIMITS.memoryShare);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // This system has no such file.
  }
}

function attempt(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
