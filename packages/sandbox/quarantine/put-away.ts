/** Moves things that a command made out of reach of the person's programs: a part of a repository, or a whole thing. */
import { posix } from 'node:path';
import { type BytePath, shownName } from '../../../machine/byte-path.ts';
import { kindOf } from '../../../machine/entry-kind.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { examineRepository, examineSetting, type GitFinding, type GitTools } from './git-folder.ts';
import { type HeldEntry, HeldFolder, QuarantineError } from './held-folder.ts';
import { QUARANTINE_LIMITS } from './limits.ts';
import { moveAway, putFile, type Spot } from './moving.ts';
import type { QuarantineRecord } from './store.ts';

/** The outcome for one place. */
export type PutAway =
  /** The thing starts nothing. */
  | { readonly state: 'harmless' }
  /** `remains` is set where only a part of the thing went. */
  | { readonly state: 'quarantined'; readonly what: readonly string[]; readonly remains?: true }
  /** The thing is where it was, or where `reason` says. */
  | { readonly state: 'failed'; readonly reason: string };

export interface PuttingAway {
  readonly record: QuarantineRecord;
  readonly tools: GitTools;
  /** Absolute and real. */
  readonly workspace: BytePath;
  /** Every `.git` that is closed to commands: the person's, and those that this look examines as well. */
  readonly repositories: ReadonlySet<BytePath>;
  /** Whether there are so many things that none is examined and each is moved whole. */
  readonly isFlood: boolean;
  /** Whether a new thing may be cleaned and stay: no command runs that could change it. */
  readonly mayClean: boolean;
}

/**
 * Takes everything that may start programs out of a new repository, so that the person can use the rest. The caller
 * checks `mayClean`. A repository that cannot be cleaned goes as a whole.
 */
export async function cleanRepository(spot: Spot, putting: PuttingAway): Promise<PutAway> {
  try {
    const kind = kindOf(await spot.folder.stat(spot.name));
    if (kind === 'file' && (await isLinkToRepository(spot, putting))) return HARMLESS;
    if (kind === 'folder') {
      const what = await cleanInRounds(spot, putting);
      if (what !== undefined) {
        return what.length === 0 ? HARMLESS : { state: 'quarantined', what, remains: true };
      }
    }
  } catch (error) {
    if (isSystemError(error, 'ENOENT') && !(await spot.folder.has(spot.name))) return HARMLESS;
    // The repository cannot be searched, but it can still be moved whole.
  }
  return await putAwayWhole(spot, putting);
}

/** A setting of a folder that looks like a repository stays where it starts nothing, and nothing could change it now. */
export async function judgeSetting(spot: Spot, putting: PuttingAway): Promise<PutAway> {
  const isHarmless = async () =>
    (await examineSetting(spot.folder, spot.name, putting.tools)).length === 0;
  // One that cannot be read may start anything.
  if (putting.mayClean && (await isHarmless().catch(() => false))) return HARMLESS;
  return await putAwayWhole(spot, putting);
}

/**
 * An agent's folder stays where it holds nothing but plain text for models: rules and plans. A link goes, because
 * commands may write to its target.
 */
export async function judgeAgentFolder(spot: Spot, putting: PuttingAway): Promise<PutAway> {
  const isPlain = async () => {
    const kind = kindOf(await spot.folder.stat(spot.name));
    return kind === 'file' || (kind === 'folder' && (await holdsOnlyTexts(spot)));
  };
  if (putting.mayClean && (await isPlain().catch(() => false))) return HARMLESS;
  return await putAwayWhole(spot, putting);
}

async function holdsOnlyTexts({ folder, name }: Spot): Promise<boolean> {
  await using held = await folder.openAnyway(name);
  for (const { name: inner, kind } of await held.list()) {
    if (kind !== 'folder' || !TEXT_FOLDERS.has(inner)) return false;
    await using texts = await held.openAnyway(inner);
    const isText = (entry: HeldEntry) => entry.kind === 'file' && /\.mdc?$/.test(entry.name);
    if (!(await texts.list()).every(isText)) return false;
  }
  return true;
}

const TEXT_FOLDERS: ReadonlySet<BytePath> = new Set(['rules', 'plans']);

/** Moves a thing away with everything in it. */
export async function putAwayWhole(spot: Spot, putting: PuttingAway): Promise<PutAway> {
  const { record, workspace, isFlood } = putting;
  const name = nameOf(spot, workspace);
  try {
    const isRepository = spot.name === '.git' && !isFlood;
    const inside = isRepository ? await whatStarts(spot, putting.tools) : [];
    const what = [`${name}, all of it`, ...inside];
    const [stored = ''] = record.plan([{ name, from: pathOf(spot), what }], {
      isDurable: !isFlood,
    });
    await using things = await record.things();
    await moveAway(spot, { folder: things, name: stored });
    return { state: 'quarantined', what };
  } catch (error) {
    if (isSystemError(error, 'ENOENT') && !(await spot.folder.has(spot.name))) return HARMLESS;
    return { state: 'failed', reason: reasonOf(error) };
  }
}

export const HARMLESS: PutAway = { state: 'harmless' };

/** What a repository would start; empty where it cannot be searched. */
export async function whatStarts(spot: Spot, tools: GitTools): Promise<readonly string[]> {
  try {
    await using held = await spot.folder.openAnyway(spot.name);
    const findings = await examineRepository(held, tools);
    return findings.flatMap(({ what }) => what);
  } catch {
    return []; // The move itself is reported in any case.
  }
}

/** Everything that was put away; undefined when each round found more. */
async function cleanInRounds(
  spot: Spot,
  putting: PuttingAway,
): Promise<readonly string[] | undefined> {
  const what: string[] = [];
  await using held = await spot.folder.openAnyway(spot.name);
  for (let round = 0; round < QUARANTINE_LIMITS.maxRounds; round++) {
    const findings = await examineRepository(held, putting.tools);
    if (findings.length === 0) return what;
    await putAwayParts(held, findings, putting);
    what.push(...findings.flatMap((finding) => finding.what));
  }
  return undefined;
}

async function putAwayParts(
  repository: HeldFolder,
  findings: readonly GitFinding[],
  { record, workspace }: PuttingAway,
): Promise<void> {
  const planned = record.plan(
    findings.map(({ way, what, replacement }) => {
      const spot = { folder: repository, name: way.join('/') };
      return {
        name: nameOf(spot, workspace),
        from: pathOf(spot),
        what: [...what],
        ...(replacement !== undefined && { replacement }),
      };
    }),
  );
  await using things = await record.things();
  for (const [index, { way, replacement }] of findings.entries()) {
    await within(repository, way, async (from) => {
      await moveAway(from, { folder: things, name: planned[index] ?? '' });
      if (replacement !== undefined) await putFile(from, replacement);
    });
  }
}

/** Opens each folder on the way from the one before, so none can be a link. */
async function within(
  folder: HeldFolder,
  way: readonly BytePath[],
  work: (spot: Spot) => Promise<void>,
): Promise<void> {
  const [name = '', ...rest] = way;
  if (rest.length === 0) return await work({ folder, name });
  await using inner = await folder.openAnyway(name);
  await within(inner, rest, work);
}

/**
 * Whether a `.git` file leads to the folder of a submodule or worktree inside a repository of this workspace. Those
 * folders are closed to commands and examined with the repository. A command could change any other folder later.
 */
async function isLinkToRepository(
  { folder, name }: Spot,
  { workspace, repositories }: PuttingAway,
): Promise<boolean> {
  const text = (await folder.read(name, QUARANTINE_LIMITS.maxLinkBytes))?.toString('latin1') ?? '';
  const target = /^gitdir: ([^\n\r\0]+)\n?$/.exec(text)?.[1];
  if (target === undefined) return false;
  const path = posix.resolve(folder.path, target);
  if (!path.startsWith(`${workspace}/`)) return false;
  const repository = /^(.*?\/\.git)\/(?:modules|worktrees)\/[^/]/.exec(path)?.[1];
  if (repository === undefined || !repositories.has(repository)) return false;
  // Throws when the path leads through a link or to nothing.
  await using _real = await HeldFolder.open(path);
  return true;
}

function pathOf({ folder, name }: Spot): BytePath {
  return posix.join(folder.path, name);
}

function nameOf(spot: Spot, workspace: BytePath): string {
  return shownName(posix.relative(workspace, pathOf(spot)));
}

/** Why a thing could not be put away. Contains no unescaped name. */
export function reasonOf(error: unknown): string {
  if (error instanceof QuarantineError) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return `it could not be moved (${code})`;
}
