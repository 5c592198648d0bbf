/** What is closed to a command in its workspace, for its sandbox and in words. */

import { type BytePath, isBelow, toText } from '../../../machine/byte-path.ts';
import { ToolFailure } from '../../../machine/failure.ts';
import type { ClosedEntries, ClosedEntry, IgnoreFile } from '../../workspace/index.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { ClosedName } from './confinement.ts';

/** `git` leaves git's own files writable, for a command that a person allowed to change them. */
export type BaseKind = 'plain' | 'git';

export interface ClosedAbout {
  /** Sentences for people and the model about anything unusual; mostly none. */
  readonly notes: readonly string[];
  readonly closed: readonly ClosedName[];
}

/** Throws a ToolFailure where it is unknown what commands may read. */
export function assertPlain({ odd }: ClosedEntries): void {
  if (odd === undefined) return;
  throw new ToolFailure(
    'SANDBOX_FAILED',
    `${oddProblem(odd)}, so no command was run: the person can make it a regular file.`,
  );
}

/** The beginning of a sentence. */
export function oddProblem({ name, content }: IgnoreFile): string {
  const kind = content.state === 'odd' ? content.kind : 'no regular file';
  return `The workspace's ${name} cannot be read, because it is ${kind}`;
}

/** The places that a command of this kind may not change. */
export function entriesOf(kind: BaseKind, places: readonly ClosedEntry[]): readonly ClosedEntry[] {
  if (kind === 'plain') return places;
  const isOfGit = (path: BytePath) =>
    GIT_NAMES.has(path.slice(path.lastIndexOf('/') + 1)) || OF_SUBMODULE.test(path);
  return places.filter(({ path, closure }) => closure === 'secret' || !isOfGit(path));
}

/** Names that stay writable for a command with `git_write`. */
const GIT_NAMES: ReadonlySet<string> = new Set(['.git', '.gitmodules']);

/** The repository of a submodule or a linked worktree. Its `.git` file leads there. */
const OF_SUBMODULE = /\/\.git\/(?:modules|worktrees)\//;

/** `places` are all known ones, `closed` those that this command finds closed. */
export function describeClosed(
  workspace: BytePath,
  about: {
    readonly places: readonly ClosedEntry[];
    readonly closed: readonly ClosedEntry[];
    /** Whether some place that should be closed is not. */
    readonly isUncovered: boolean;
  },
): ClosedAbout {
  const nameOf = (path: BytePath) =>
    isBelow(workspace, path) ? toText(path.slice(workspace.length + 1)) : '.';
  const namesOf = (of: (place: ClosedEntry) => boolean) =>
    about.places.filter(of).map(({ path }) => JSON.stringify(nameOf(path)));
  const unreadable = namesOf((place) => place.isUnreadable === true);
  const ignored = namesOf((place) => place.by !== undefined);
  return {
    notes: [
      ...(about.isUncovered ? [UNCOVERED] : []),
      ...(unreadable.length > 0
        ? [`closed, because it cannot be looked into: ${shortened(unreadable)}`]
        : []),
      ...(ignored.length > 0 ? [`closed by .cursorignore: ${shortened(ignored)}`] : []),
    ],
    closed: about.closed.map(({ path, closure }) => ({ name: nameOf(path), closure })),
  };
}

function shortened(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ').slice(0, SANDBOX_LIMITS.maxNoteChars);
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}

const UNCOVERED = 'some protected paths that appeared after the bridge began are not closed';

/** Why no command is confined in a workspace. */
export const TOO_LARGE =
  'The workspace is too large to be searched for paths that commands may not touch, so a person must allow each command: ' +
  'open a smaller folder.';

/** The same. */
export const TOO_MANY =
  `The workspace has more than ${SANDBOX_LIMITS.maxFirstMounts} paths that commands may not touch. A sandbox cannot close ` +
  'so many, so a person must allow each command: open a smaller folder.';
