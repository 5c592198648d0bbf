/** A workspace with all that a sandbox must guard: a repository, secrets around and in it, our own state. */
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { copyFile, lchown, mkdir, mkdtemp, readFile, realpath, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { findProgram } from '../../../machine/programs.ts';
import type { Permission } from '../../../shared/tools/run-terminal-cmd.ts';
import { type CommandUser, chooseAccount } from '../account.ts';
import { findBubblewrap } from '../launch/bubblewrap.ts';
import { bubblewrapConfinement } from '../launch/bubblewrap-confinement.ts';
import type { Confinement, SandboxSurroundings } from '../launch/confinement.ts';
import type { CommandOutcome } from '../terminal/run-command.ts';
import { run } from './terminal/plain-launch.ts';

/** Why these tests cannot run here, for their title; undefined where they can. */
export const NO_BUBBLEWRAP = existsSync('/usr/bin/bwrap')
  ? undefined
  : 'skipped: bubblewrap is not installed';

/** The user whose files all of them are: the bridge of a root test run confines commands only as somebody else. */
export const OWNER = process.getuid?.() === 0 ? { uid: 1234, gid: 1234 } : {};

/** Confines commands to another folder of the place; gives what they printed. */
export async function confinedTo(
  { path, surroundings }: SandboxedWorkspace,
  folder: string,
): Promise<(command: string, permissions: readonly Permission[]) => Promise<string>> {
  const cwd = path(folder);
  const confinement = await realConfinement({ ...surroundings, workspace: cwd });
  return async (command, permissions) => {
    const request = { command, cwd, permissions };
    const { output } = await confinement.start(request, ({ launch }) => run(launch));
    return output;
  };
}

/** Of commands that run as those of a conversation do. */
const conversationId = 'conv_test';

export interface SandboxedWorkspace {
  /** Holds the folders `workspace`, `home`, `instances` (with `state` in it) and `outside`. */
  readonly base: string;
  readonly surroundings: SandboxSurroundings;
  readonly account: CommandUser;
  /** The program's path. */
  readonly bubblewrap: string;
  readonly confinement: Confinement;
  readonly path: (name: string) => string;
  readonly put: (name: string, text: string) => Promise<void>;
  /** A Node that commands can run. */
  readonly node: () => Promise<string>;
  /** The file's text, or undefined when there is none. */
  readonly text: (name: string) => Promise<string | undefined>;
  /** Runs a command in the sandbox, in the workspace. */
  readonly attempt: (
    command: string,
    ...permissions: Permission[]
  ) => Promise<CommandOutcome & { readonly limits: string }>;
  readonly remove: () => Promise<void>;
}

/** For one test, gone after it. */
export async function freshWorkspace(
  options: Parameters<typeof sandboxedWorkspace>[0] = {},
): Promise<SandboxedWorkspace> {
  const fresh = await sandboxedWorkspace(options);
  onTestFinished(fresh.remove);
  return fresh;
}

interface WorkspaceOptions {
  /** What the owner has listed as readable: names below the home folder, or absolute paths. */
  readonly readable?: readonly string[];
  readonly isHeld?: boolean;
  /** As on a system whose `unshare` is too old. */
  readonly hasOwnProcesses?: boolean;
}

/** Its files and folders belong to {@link OWNER}, those that are put there later too. */
export async function sandboxedWorkspace(
  options: WorkspaceOptions = {},
): Promise<SandboxedWorkspace> {
  const parent = await reachableFolder();
  const base = await realpath(await mkdtemp(join(parent, 'drawbridge-sandbox-')));
  const path = (name: string) => join(base, name);
  const put = async (name: string, text: string) => {
    await mkdir(dirname(path(name)), { recursive: true });
    await writeFile(path(name), text);
    await giveAway(base, name);
  };
  await giveAway(base, '.');
  for (const [name, text] of Object.entries(FILES)) await put(name, text);
  await git(path('workspace'), 'init', '--quiet');
  await git(path('workspace'), 'add', 'readme');
  await git(path('workspace'), ...AUTHOR, 'commit', '--quiet', '-m', 'first');
  const surroundings: SandboxSurroundings = {
    workspace: path('workspace'),
    home: path('home'),
    closedFolders: [path('instances')],
    maskFolder: path('masks'),
    readable: (options.readable ?? []).map((name) => resolve(path('home'), name)),
    environment: { PATH: process.env['PATH'], HOME: path('home'), API_TOKEN: 'secret token' },
  };
  const confinement = await realConfinement(surroundings, options);
  return {
    base,
    surroundings,
    account: await accountOf(surroundings),
    bubblewrap: (await findProgram('bwrap')) ?? '',
    confinement,
    path,
    put,
    node: async () => {
      const copy = path('workspace/node');
      if (!existsSync(copy)) await copyFile(process.execPath, copy);
      return copy;
    },
    text: (name) => readFile(path(name), 'utf8').catch(() => undefined),
    attempt: async (command, ...permissions) => {
      const request = { command, cwd: surroundings.workspace, permissions, conversationId };
      return await confinement.start(request, async ({ launch, limits }) => ({
        ...(await run(launch)),
        limits,
      }));
    },
    remove: async () => {
      confinement[Symbol.dispose]();
      // Not by Node, which gives up on paths longer than the kernel takes at once.
      await promisify(execFile)('chmod', ['-R', 'u+rwx', base]);
      await promisify(execFile)('rm', ['-rf', base]);
    },
  };
}

/** In the repository, where the owner gets there, else where everybody does. Not in /tmp: a command has its own. */
async function reachableFolder(): Promise<string> {
  const isInTmp = import.meta.dirname.startsWith('/tmp/');
  if (isInTmp && process.getuid?.() !== 0) return homedir();
  if (isInTmp) return '/var/lib';
  const inRepository = join(import.meta.dirname, '../../../.build');
  await mkdir(inRepository, { recursive: true });
  // The launcher makes the folder private, where it is the first to need it.
  return isOpenToOwner(inRepository) ? inRepository : '/var/lib';
}

/** Whether {@link OWNER} gets to a folder. */
export function isOpenToOwner(path: string): boolean {
  if (OWNER.uid === undefined || dirname(path) === path) return true;
  return (statSync(path).mode & EVERYBODY_ENTERS) !== 0 && isOpenToOwner(dirname(path));
}

const EVERYBODY_ENTERS = 0o001;

/** The place itself and every folder on the way to it. */
async function giveAway(base: string, name: string): Promise<void> {
  const { uid, gid } = OWNER;
  if (uid === undefined || gid === undefined) return;
  for (let path = join(base, name); path.startsWith(base); path = dirname(path)) {
    await lchown(path, uid, gid);
  }
}

/** `isHeld`: as on a system where no base can be entered. */
export async function realConfinement(
  surroundings: SandboxSurroundings,
  { isHeld = false, hasOwnProcesses = false }: WorkspaceOptions = {},
): Promise<Confinement> {
  const found = await findBubblewrap();
  if (!found.ok) throw new Error(found.reason);
  const account = await accountOf(surroundings);
  const bubblewrap = {
    ...found.bubblewrap,
    ...(isHeld && { nsenter: undefined }),
    ...(hasOwnProcesses && { unshare: undefined }),
  };
  const made = await bubblewrapConfinement(bubblewrap, account, surroundings);
  if (!made.ok) throw new Error(made.reason);
  return made.confinement;
}

/** With the home folder of the place: user 1234 has none. */
async function accountOf({ workspace, home }: SandboxSurroundings): Promise<CommandUser> {
  const chosen = await chooseAccount(workspace);
  if (!chosen.ok) throw new Error(chosen.reason);
  return { ...chosen.account, home };
}

const FILES: Readonly<Record<string, string>> = {
  'workspace/readme': 'hello\n',
  'workspace/.env': 'KEY=secret in the workspace\n',
  'workspace/.vscode/settings.json': '{}\n',
  'home/.ssh/id_ed25519': 'secret key\n',
  'home/.npmrc': 'secret of npm\n',
  'home/notes': 'public\n',
  'home/.cargo/bin/tool': 'a tool\n',
  'home/.cargo/credentials.toml': 'secret of cargo\n',
  'home/.config/listed': 'listed\n',
  'home/.config/other': 'secret of another program\n',
  'instances/state/devices.json': 'secret state\n',
  'instances/other/auth-secret': 'secret of another\n',
  'outside/file': 'untouched\n',
};

const AUTHOR = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'] as const;

/** For use inside, too: the sandbox has no identity to commit with. */
export const COMMIT = 'git -c user.name=Test -c user.email=test@example.com commit --quiet';

export async function git(cwd: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  const { stdout } = await promisify(execFile)('git', args, { cwd, env, ...OWNER });
  return stdout;
}
