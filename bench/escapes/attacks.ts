/** Attacks on the sandbox: with a program that changes names without pause, or with a command alone. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeRepositoryAtOnce, writeThrough } from './file-tools.ts';
import { isWrittenBehindLinks, LINKED, LINKS } from './linked-writes.ts';
import { startListedServers } from './listed-servers.ts';
import { startLoopbackServer } from './loopback-server.ts';
import { OWN_PROJECT, startOwnProgram } from './own-program.ts';
import { runPersonsGit } from './persons-git.ts';

/**
 * An attack works in its own folder inside the workspace. Beside the workspace are the home folder (`$HOME`),
 * `instances` (Drawbridge's state) and `outside`.
 */
export interface Attack {
  readonly name: string;
  /** The person's files in the attack's folder. A repository of the person contains a file `person`. */
  readonly files?: Readonly<Record<string, string>>;
  /** A command that runs once before the attempts. */
  readonly prepare?: string;
  /** A Perl program that runs beside the attempts. */
  readonly swapper?: string;
  /** The command of one attempt. Printing {@link LOOT} is a hit; so is leaving a {@link MARK} outside. */
  readonly attempt: (index: number) => string;
  /** The person's links in the attack's folder, made after the files. */
  readonly links?: Readonly<Record<string, string>>;
  /**
   * What runs outside the sandbox beside the attempts. `folder` is the attack's own, `programs` is the bridge's.
   */
  readonly start?: (folder: string, programs: string) => Promise<Beside>;
  /** What the bridge does outside the sandbox after each attempt. True for a hit. */
  readonly after?: (folder: string) => Promise<unknown>;
}

export interface Beside {
  /** Asked after each attempt. */
  readonly isHit: () => Promise<boolean>;
  readonly end: () => void;
}

/** A text in every file that no command may read. */
export const LOOT = 'LOOT-of-the-person';
/** A text that attacks write where they must not. */
export const MARK = 'MARK-of-a-command';

/** Files of the home folder and of Drawbridge's state, beside the workspace. */
export const PERSONAL_FILES = [
  'home/.ssh/id_ed25519',
  'home/.aws/credentials',
  'home/.config/gh/hosts.yml',
  'home/.config/some-new-tool/token',
  'home/.docker/config.json',
  'home/.cargo/credentials.toml',
  'home/.npmrc',
  'home/.netrc',
  'home/.bash_history',
  'home/.local/share/keyrings/login.keyring',
  'home/Documents/taxes.txt',
  'home/.password-store/mail.gpg',
  'instances/own/auth-secret',
  'instances/own/device.json',
  'instances/other/token',
  'instances/programs/program/key/dist/cli/main.js',
  'instances/programs/packages/key/node_modules/@vscode/ripgrep-linux-x64/bin/rg',
  'outside/notes.txt',
  'kit/.env',
  'kit/notes.txt',
  'kit/lib/.env',
] as const;

/** A folder of `PATH` beside the home folder, whose neighbours are the person's. */
export const ON_PATH = 'kit/bin';

/** Exchanges two names in one step: renameat2(2) with RENAME_EXCHANGE, which no shell has. */
const EXCHANGE = `
use POSIX;
my $renameat2 = (POSIX::uname())[4] eq "aarch64" ? 276 : 316;
sub swap { my ($a, $b) = @_; syscall($renameat2, -100, $a, -100, $b, 2); }
`;

/** Wakes this process repeatedly, even if it is stopped: timer_create(2) and timer_settime(2) with SIGCONT. */
export const WAKE = `
my ($create, $settime) = (POSIX::uname())[4] eq "aarch64" ? (107, 110) : (222, 223);
sub wake { my ($ns) = @_; $SIG{CONT} = sub {};
  my $event = pack("x8 l l x48", 18, 0); my $timer = pack("l", 0);
  syscall($create, 1, $event, $timer) == 0 or die;
  my $times = pack("q4", 0, $ns, 0, $ns); syscall($settime, unpack("l", $timer), 0, $times, 0) == 0 or die; }
`;

/** Makes a new protected name each time: otherwise the sandbox makes no base. */
const provoke = (index: number) => `mkdir -p fresh/${index}/.vscode`;

/** Removes that name, as a person would: the sandbox closes a bounded number of names and then makes no base. */
export async function makeRoom(folder: string, index: number): Promise<void> {
  await rm(join(folder, 'fresh', String(index)), { recursive: true, force: true });
}

/** Writes into every repository. */
const WRITE =
  `for git in */.git */*/.git */*/*/.git; do echo ${MARK} > $git/hooks/pre-commit; ` +
  `echo ${MARK} >> $git/config; git -C "$(dirname $git)" config core.fsmonitor ${MARK}; done`;

const PROJECT = { 'a/b/.env': LOOT, 'a/b/.git/person': '', 'a/b/.git/hooks/none': '' };

const VEILED = {
  '.cursorignore': '/a/b/veiled.txt\n*.veiled\n',
  'a/b/veiled.txt': LOOT,
  'a/b/x.veiled': LOOT,
};

export const RACES: readonly Attack[] = [
  {
    name: 'the parents of what .cursorignore closes',
    files: VEILED,
    prepare: 'mkdir -p c/b; touch c/b/veiled.txt c/b/x.veiled',
    swapper: `${EXCHANGE} while (1) { swap("a", "c"); swap("a/b", "c/b"); }`,
    attempt: (index) => `cat */b/veiled.txt */b/x.veiled; ${provoke(index)}`,
  },
  {
    name: 'a folder for a link into the home folder',
    prepare: 'mkdir -p x/.git y; ln -s "$HOME/.ssh" y/.git',
    swapper: `${EXCHANGE} while (1) { swap("x/.git", "y/.git"); }`,
    attempt: (index) => `cat x/.git/id_ed25519 y/.git/id_ed25519; ${provoke(index)}`,
  },
  {
    name: 'a folder for a link into our own state',
    prepare: 'mkdir -p x/.git y; ln -s "$HOME/../instances/own" y/.git',
    swapper: `${EXCHANGE} while (1) { swap("x/.git", "y/.git"); }`,
    attempt: (index) => `cat x/.git/auth-secret y/.git/auth-secret; ${provoke(index)}`,
  },
  {
    name: 'a folder for a link, by a program that wakes itself',
    prepare: 'mkdir -p x/.git y; ln -s "$HOME/.ssh" y/.git',
    swapper: `${EXCHANGE} ${WAKE} wake(20000000); while (1) { swap("x/.git", "y/.git"); }`,
    attempt: (index) => `cat x/.git/id_ed25519 y/.git/id_ed25519; ${provoke(index)}`,
  },
  {
    name: 'the parents of a repository',
    files: PROJECT,
    prepare: 'mkdir -p c/b/.git/hooks c/d',
    swapper: `${EXCHANGE} while (1) { swap("a", "c"); swap("a/b", "c/b"); }`,
    attempt: (index) => `${WRITE}; ${provoke(index)}`,
  },
  {
    name: 'the parents of a secret',
    files: PROJECT,
    prepare: 'mkdir -p c/b; touch c/b/.env',
    swapper: `${EXCHANGE} while (1) { swap("a", "c"); swap("a/b", "c/b"); }`,
    attempt: (index) => `cat a/b/.env c/b/.env; ${provoke(index)}`,
  },
  {
    name: 'a folder for a link out of the new root',
    prepare:
      'mkdir -p x/y/.vscode z; ln -s "/oldroot$HOME/../outside" z/y; ln -s "$HOME/../outside" z/w',
    swapper: `${EXCHANGE} while (1) {
      swap("x/y", "z/y"); swap("x/y", "z/w");
      rename("x/y/.vscode", "x/y/.idea"); rename("x/y/.idea", "x/y/.vscode"); }`,
    attempt: (index) =>
      `echo ${MARK} > x/y/.vscode/made; echo ${MARK} > x/y/made; ${provoke(index)}`,
  },
  {
    name: 'the folder that a file tool writes to and an undo restores',
    files: { 'a/b/notes.txt': '' },
    prepare: 'mkdir -p c; ln -s "$HOME/../outside" c/b; ln -s "$HOME" d',
    swapper: `${EXCHANGE} while (1) { swap("a/b", "c/b"); swap("a", "d"); }`,
    attempt: (index) => `rm -f a/b/made; ${provoke(index)}`,
    after: (folder) => writeThrough(folder, MARK),
  },
  {
    name: 'everything, in a storm of forks that wake each other',
    files: PROJECT,
    prepare: 'mkdir -p c/b; touch c/b/.env',
    swapper: `${EXCHANGE}
      for my $i (1 .. 2) { if (!fork()) { while (1) { kill("CONT", -1); select(undef, undef, undef, 0.001); } } }
      for my $i (1 .. 1) { if (!fork()) { while (1) { if (my $child = fork()) { waitpid($child, 0); } else { swap("a", "c"); exit; } } } }
      while (1) { swap("a/b", "c/b"); }`,
    attempt: (index) => `cat a/b/.env c/b/.env; ${WRITE}; ${provoke(index)}`,
  },
];

/** A setting by which git starts a program that leaves a mark outside. */
const OWNED = `printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = "echo ${MARK} > %s/../outside/ran; false"\\n' "$HOME"`;
const HALF = 'mkdir -p x/objects x/refs; echo ref: refs/heads/a > x/HEAD';

const HOME_FILES = PERSONAL_FILES.map((name) => `"$HOME/../${name}"`).join(' ');

/** Writes into what a search, a start of the program and a restart after a crash would run. */
const REPLACE =
  `put() { mkdir -p "$(dirname "$1")"; rm -rf "$1"; echo "$2" > "$1"; chmod 755 "$1"; }; ` +
  `MINE="echo ${MARK} > $HOME/../outside/ran; echo mine"; JS="require('node:fs').writeFileSync('$HOME/../outside/ran', '${MARK}')"; ` +
  `all() { put $1/@vscode/ripgrep-here/bin/rg "$MINE"; put $1/@vscode/ripgrep/lib/index.js "$JS"; ` +
  `put $1/drawbridge/dist/cli/part.js "console.log('mine')"; put $1/drawbridge/dist/cli/main.js "console.log('mine')"; }; `;

/** The attacks that need no second program. */
export const PLAIN: readonly Attack[] = [
  {
    name: 'to replace what Drawbridge runs',
    files: OWN_PROJECT,
    attempt: (index) =>
      REPLACE +
      ([
        'all node_modules',
        `mv node_modules m${index}; mkdir node_modules; cp -a m${index}/. node_modules; all node_modules`,
        'mkdir -p evil; all evil; rm -rf node_modules/@vscode node_modules/drawbridge; ln -s ../evil/@vscode ../evil/drawbridge node_modules/',
        'P=$(find / -path "*/programs/*" -name "*.js" 2>/dev/null); for f in $P; do echo mine > $f; done',
      ][index % 4] ?? ''),
    start: startOwnProgram,
  },
  {
    name: 'to write behind a link of the person',
    files: { ...Object.fromEntries(LINKED.map((name) => [name, 'mine'])), '.git/person': '' },
    links: LINKS,
    attempt: (index) =>
      `for f in ${LINKED.join(' ')}; do echo ${MARK} > $f; rm -rf $f; echo ${MARK} > t; mv -f t $f; done; ` +
      ([
        `mv gh g; mkdir -p gh/hooks; echo ${MARK} > gh/hooks/h.json`,
        'mkdir -p conf/idea; rm -rf c; mv conf c; mkdir -p conf/idea',
        'ln -sfn gh/hooks way; ln -sfn ../gh/hooks skills/way',
        'mkdir -p d; ln -sfn ../gh d/.github; ln -sfn d/.github/hooks way',
      ][index % 4] ?? ''),
    after: (folder) => isWrittenBehindLinks(folder, MARK),
  },
  {
    name: 'to have a listed MCP server run it',
    attempt: () =>
      `echo "open('$HOME/../outside/ran', 'w').write('${MARK}')" | tee json.py > tickets.py; ` +
      'mkdir -p link node_modules/.bin node_modules/tickets; ' +
      `echo "require('node:fs').writeFileSync('$HOME/../outside/ran', '${MARK}')" > tickets.cjs; ` +
      'cp tickets.cjs node_modules/tickets/index.js; ' +
      '{ echo "#!/usr/bin/env node"; cat tickets.cjs; } > node_modules/.bin/tickets; ' +
      'chmod +x node_modules/.bin/tickets; echo "prefix=$PWD" > .npmrc; echo "{}" > package.json',
    after: startListedServers,
  },
  {
    name: 'to have the person’s git run it',
    attempt: (index) =>
      [
        `${HALF}; ${OWNED} > x/config`,
        `mkdir -p x; ${OWNED} > x/config; ${HALF}`,
        `${HALF}; ${OWNED} > x/config; chmod 311 x`,
        `${HALF}; ${OWNED} > x/config; mkdir -p y; mv x y/z; chmod 111 y`,
        `git init -q x; ${OWNED} >> x/.git/config; chmod 311 x`,
        `mkdir -p y/objects y/refs x; ${OWNED} > y/config; echo ../y > x/commondir; echo ref: refs/heads/a > x/HEAD`,
      ][index % 6] ?? '',
    after: runPersonsGit,
  },
  {
    name: 'to have the person’s git run what file tools write at once',
    attempt: (index) => ['true', 'mkdir -p sub/x/objects', 'mkdir -p sub/x/refs'][index % 3] ?? '',
    after: (folder) =>
      makeRepositoryAtOnce(folder, `echo ${MARK} > ${join(folder, '../../outside/ran')}; false`),
  },
  {
    name: 'to read through the package caches, and leave links in them',
    attempt: (index) =>
      'for d in $(env | sed -n "s/^[A-Za-z_]*=\\(\\/[^:]*\\)$/\\1/p") /var/cache/drawbridge; do [ -w "$d" ] || continue; ' +
      `cat "$d"/l*/id_ed25519 "$d"/l*; ln -sfn "$HOME/.ssh" "$d/l${index}"; ln -sfn "$HOME/../instances/own/auth-secret" "$d/m${index}"; ` +
      `cat "$d"/m*; echo ${MARK} > "$d/l${index}/made"; done`,
  },
  {
    name: 'to move what .cursorignore closes away from its rule',
    files: VEILED,
    attempt: (index) =>
      `echo > .cursorignore; rm -f .cursorignore; mkdir -p d${index}; mv a d${index}/ || mv d*/a d${index}/; ` +
      'cat */a/b/*; mv a/b/veiled.txt v; ln */a/b/veiled.txt w; cp */a/b/veiled.txt u; cat u v w',
  },
  {
    name: 'to read the home folder and our state by their names',
    // Leaves out the workspace, which grows with every other attempt.
    attempt: () => `cat ${HOME_FILES}; grep -r --exclude-dir=workspace ${LOOT} "$HOME" "$HOME/.."`,
  },
  {
    name: 'to read them by way of another process',
    attempt: () =>
      `for p in /proc/[0-9]* /proc/self; do for f in ${HOME_FILES}; do cat "$p/root$f"; cat "$p/cwd/$f"; done; timeout 1 head -c 4096 $p/fd/*; done`,
  },
  {
    name: 'to read them by links',
    attempt: (index) =>
      `mkdir -p l${index}; for f in ${HOME_FILES}; do ln -sf "$f" l${index}/link; cat l${index}/link; ln "$f" l${index}/hard; cat l${index}/hard; done`,
  },
  {
    name: 'to reach the loopback interface of the machine',
    attempt: (index) =>
      `p=$(cat port); ` +
      ([
        'exec 3<>/dev/tcp/127.0.0.1/$p; echo x >&3',
        'exec 3<>/dev/tcp/localhost/$p; echo x >&3',
        'echo x >/dev/udp/127.0.0.1/$p',
        'curl -s -m 2 http://127.0.0.1:$p http://0.0.0.0:$p "http://[::1]:$p"',
        'for q in $(tail -n +2 /proc/net/tcp | cut -c 16-19); do q=$((16#$q)); exec 3<>/dev/tcp/127.0.0.1/$q && ' +
          'printf "CONNECT 127.0.0.1:$p HTTP/1.1\\r\\n\\r\\nx" >&3; done; sleep 0.1',
      ][index % 5] ?? ''),
    start: startLoopbackServer,
  },
  {
    name: 'to write outside',
    attempt: () =>
      `for f in ${HOME_FILES} "$HOME/made" "$HOME/../made" "$HOME/../instances/made" /usr/made /etc/made; do echo ${MARK} > "$f"; done`,
  },
  {
    name: 'to leave the namespaces',
    attempt: () =>
      `for t in 1 $PPID; do nsenter -t $t -m -U cat ${HOME_FILES}; done; unshare -Urm sh -c 'umount -l "$HOME"; cat ${HOME_FILES}'; mount --bind / . ; umount -l .; perl -e 'syscall(308, 4, 0); syscall(272, 0x10020000); exec "cat", glob("~/.ssh/*")'`,
  },
  {
    name: 'to change the kernel or read the machine',
    attempt: () =>
      `for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sys/vm/drop_caches /sys/kernel/uevent_helper; do [ -w $f ] && echo ${LOOT}; done; cat /etc/shadow | grep -q ':' && echo ${LOOT}; ls /dev/sd* /dev/vd* /dev/kmsg && echo ${LOOT}`,
  },
  {
    name: 'to move a project away from what closes it',
    files: PROJECT,
    attempt: (index) =>
      `mkdir -p node_modules/${index}; mv a/b node_modules/${index}/ || mv node_modules/*/b node_modules/${index}/; ` +
      `cat a/b/.env node_modules/*/b/.env; ${WRITE}`,
  },
  {
    name: 'to move it under odd, locked and deep names',
    files: PROJECT,
    attempt: (index) =>
      `mv a $'\\xff${index}' || mv $'\\xff'* $'\\xff${index}'; cat */b/.env; ${WRITE}; chmod 000 $'\\xff${index}'; chmod 700 $'\\xff${index}'; ` +
      `n=$(printf %0200d 0); mkdir -p $n/$n/$n; mv $'\\xff${index}' $n/$n/$n/; cat $n/$n/$n/*/b/.env; mv $n/$n/$n/$'\\xff${index}' .`,
  },
  {
    name: 'to crowd it out by names that are closed too',
    files: PROJECT,
    attempt: (index) =>
      `mkdir -p f; for i in $(seq 40); do mkdir -p "f/!${index}-$i/.git" ; done; cat a/b/.env; ${WRITE}; rm -rf f`,
  },
  {
    name: 'to put another file in its place',
    files: PROJECT,
    attempt: () =>
      `touch t; mv -f t a/b/.env; ln -f t a/b/.env; rm -rf a/b/.git a/b/.env; mv a/b/.env x; cat x a/b/.env; ${WRITE}`,
  },
];
