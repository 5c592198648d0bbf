/** A workspace with all that a sandbox must guard: a repository, secrets around and in it, our own state. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findBubblewrap } from '../../../bridge/sandbox/bubblewrap.ts';
import { bubblewrapConfinement } from '../../../bridge/sandbox/bubblewrap-confinement.ts';
import type { Confinement, Surroundings } from '../../../bridge/sandbox/confinement.ts';
import type { CommandOutcome } from '../../../bridge/terminal/run-command.ts';
import type { Permission } from '../../../shared/tools/run-terminal-cmd.ts';
import { run } from '../terminal/plain-launch.ts';

/** Why these tests cannot run here, for their title; undefined where they can. */
export const NO_BUBBLEWRAP = existsSync('/usr/bin/bwrap')
  ? undefined
  : 'skipped: bubblewrap is not installed';

/** Confines commands to another folder of the place; gives what they printed. */
export async function confinedTo(
  { path, surroundings }: SandboxedWorkspace,
  folder: string,
): Promise<(command: string, permissions: readonly Permission[]) => Promise<string>> {
  const cwd = path(folder);
  const confinement = await realConfinement({ ...surroundings, workspace: cwd });
  return async (command, permissions) => {
    const { launch } = await confinement.prepare({ command, cwd, permissions });
    const { output } = await run(launch);
    return output;
  };
}

export interface SandboxedWorkspace {
  /** Holds the folders `workspace`, `home`, `state` and `outside`. */
  readonly base: string;
  readonly surroundings: Surroundings;
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
  ) => Promise<CommandOutcome & { readonly newlyProtected: readonly string[] }>;
  readonly remove: () => Promise<void>;
}

/** Not in a folder that a sandbox empties, such as `/tmp`: there, what it guards could not even be seen. */
export async function sandboxedWorkspace(): Promise<SandboxedWorkspace> {
  const inRepository = join(import.meta.dirname, '../../../.build');
  const parent = isSeen(inRepository) ? inRepository : join(homedir(), '.cache');
  await mkdir(parent, { recursive: true });
  const base = await realpath(await mkdtemp(join(parent, 'drawbridge-sandbox-')));
  const path = (name: string) => join(base, name);
  const put = async (name: string, text: string) => {
    await mkdir(dirname(path(name)), { recursive: true });
    await writeFile(path(name), text);
  };
  for (const [name, text] of Object.entries(FILES)) await put(name, text);
  await git(path('workspace'), 'init', '--quiet');
  await git(path('workspace'), 'add', 'readme');
  await git(path('workspace'), ...AUTHOR, 'commit', '--quiet', '-m', 'first');
  const surroundings: Surroundings = {
    workspace: path('workspace'),
    home: path('home'),
    closedFolders: [path('state')],
    environment: { PATH: process.env['PATH'], HOME: path('home'), API_TOKEN: 'secret token' },
  };
  const confinement = await realConfinement(surroundings);
  return {
    base,
    surroundings,
    confinement,
    path,
    put,
    node: async () => {
      if (isSeen(process.execPath)) return process.execPath;
      await copyFile(process.execPath, path('outside/node'));
      return path('outside/node');
    },
    text: (name) => readFile(path(name), 'utf8').catch(() => undefined),
    attempt: async (command, ...permissions) => {
      const cwd = surroundings.workspace;
      const prepared = await confinement.prepare({ command, cwd, permissions });
      const outcome = await run(prepared.launch);
      return { ...outcome, newlyProtected: await prepared.findNewlyProtected() };
    },
    remove: () => rm(base, { recursive: true, force: true }),
  };
}

function isSeen(path: string): boolean {
  const emptied = ['/tmp', '/run', '/var/tmp', '/mnt', '/media'];
  return !emptied.some((folder) => path.startsWith(`${folder}/`));
}

async function realConfinement(surroundings: Surroundings): Promise<Confinement> {
  const found = await findBubblewrap();
  if (!found.ok) throw new Error(found.reason);
  return bubblewrapConfinement(found.bubblewrap, surroundings);
}

const FILES: Readonly<Record<string, string>> = {
  'workspace/readme': 'hello\n',
  'workspace/.env': 'KEY=secret in the workspace\n',
  'workspace/.vscode/settings.json': '{}\n',
  'home/.ssh/id_ed25519': 'secret key\n',
  'home/.npmrc': 'secret of npm\n',
  'home/notes': 'public\n',
  'state/devices.json': 'secret state\n',
  'outside/file': 'untouched\n',
};

const AUTHOR = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'] as const;

/** For use inside, too: the sandbox has no identity to commit with. */
export const COMMIT = 'git -c user.name=Test -c user.email=test@example.com commit --quiet';

export async function git(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', args, { cwd });
  return stdout;
}
