/** The closed names of a workspace as patterns, for a sandbox that judges a name whenever a command uses it. */
import {
  BACKUP_ENDS,
  EXAMPLE_FILES,
  PROTECTED_IN_GITHUB,
  PROTECTED_KINDS,
  SECRET_NAMES,
} from '../../workspace/index.ts';

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
  const secrets = SECRET_NAMES.flatMap(({ names }) => names);
  const isClosed = (name: string) => gitFolders === undefined || name !== '.git';
  const inGithub = PROTECTED_IN_GITHUB.map((name) => `.github/${name}`);
  const ofGit = gitFolders && [...anywhere([inAnyCase('.git')]), ...gitFolders];
  return {
    protected: [
      ...anywhere([...kinds.filter(isClosed), ...inGithub].map(inAnyCase)),
      ...(ofGit ?? []).flatMap((folder) => GIT_SETTINGS.map((name) => `${folder}/**/${name}`)),
    ],
    secret: anywhere([
      ...secrets.map((name) => inAnyCase(name.replace(/\/$/, ''))),
      ...secrets
        .filter((name) => !/[*/]$/.test(name))
        .flatMap((name) => BACKUP_ENDS.map((end) => inAnyCase(name) + end)),
    ]),
    examples: anywhere([
      ...EXAMPLE_FILES.filter((example) => !example.startsWith('*')),
      ...secrets
        .filter((name) => name.endsWith('*'))
        .flatMap((name) => {
          const ends = EXAMPLE_FILES.filter((example) => example.startsWith('*.'));
          return ends.flatMap((end) => [
            name.replace('.*', end.slice(1)),
            `${name}${end.slice(1)}`,
          ]);
        }),
      ...secrets
        .filter((name) => name.endsWith('*.json'))
        .map((name) => name.replace('.json', '.example.json')),
    ]),
  };
}

/** What starts programs in a git folder. The runtime closes most of it whatever it is asked for. */
const GIT_SETTINGS = ['hooks', 'config', 'config.worktree'] as const;

function inAnyCase(name: string): string {
  return name.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
