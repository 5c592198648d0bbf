/** The closed names of a workspace as patterns, for a sandbox that judges a name whenever a command uses it. */
import { EXAMPLE_FILES, SECRET_FILES, SECRET_FOLDERS } from './protected.ts';
import { PROTECTED_IN_GITHUB, PROTECTED_KINDS } from './protected-kinds.ts';

/** `**` stands for any folders, `*` for any characters of a name, `[aA]` for one character. */
export interface NamePatterns {
  /** May be read and not changed. */
  readonly protected: readonly string[];
  /** May not be read. */
  readonly secret: readonly string[];
  /** Those that only look like secrets. */
  readonly examples: readonly string[];
}

/**
 * Letters are matched in both cases, as on most disks of macOS. Other spellings that such a disk takes for the same name
 * are left to the look at what a command leaves behind. `gitFolders` are git folders that a command may change, beside
 * those in the workspace; absent where it may change none.
 */
export function namePatterns(workspace: string, gitFolders?: readonly string[]): NamePatterns {
  const anywhere = (names: readonly string[]) => names.map((name) => `${workspace}/**/${name}`);
  const kinds = PROTECTED_KINDS.flatMap(({ names }) => names);
  const isClosed = (name: string) => gitFolders === undefined || name !== '.git';
  const inGithub = PROTECTED_IN_GITHUB.map((name) => `.github/${name}`);
  const ofGit = gitFolders && [...anywhere([inAnyCase('.git')]), ...gitFolders];
  return {
    protected: [
      ...anywhere([...kinds.filter(isClosed), ...inGithub].map(inAnyCase)),
      ...(ofGit ?? []).flatMap((folder) => GIT_SETTINGS.map((name) => `${folder}/**/${name}`)),
    ],
    secret: anywhere([...SECRET_FOLDERS, ...SECRET_FILES].map(inAnyCase)),
    examples: anywhere(
      SECRET_FILES.filter((name) => name.endsWith('.*')).flatMap((name) =>
        EXAMPLE_FILES.flatMap((example) => [
          name.replace('.*', example.slice(1)),
          `${name}${example.slice(1)}`,
        ]),
      ),
    ),
  };
}

/** What starts programs in a git folder. The runtime closes most of it whatever it is asked for. */
const GIT_SETTINGS = ['hooks', 'config', 'config.worktree'] as const;

function inAnyCase(name: string): string {
  return name.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
