/** The user that sandboxed commands run as: never root, even where the bridge runs as root. */
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { ownerLine } from '../../machine/ordinary-owner.ts';
import { printedBy } from '../../machine/printed.ts';
import { findProgram } from '../../machine/programs.ts';
import type { Rights } from '../workspace/index.ts';
import { SANDBOX_LIMITS } from './limits.ts';

/** The user whose rights a command has outside its namespaces. */
export interface CommandUser {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
  readonly home: string;
  /** Stands before a program to run it as this user. Empty where the bridge already runs as this user. */
  readonly prefix: readonly string[];
}

/** The rights of a command that runs as another user than the bridge; undefined where it is the same user. */
export function otherRights({ uid, gid, prefix }: CommandUser): Rights | undefined {
  return prefix.length === 0 ? undefined : { uid, gid };
}

export type AccountChoice =
  | { readonly ok: true; readonly account: CommandUser }
  /** `reason` is one sentence that says what to do. */
  | { readonly ok: false; readonly reason: string };

/**
 * The bridge's own user. For a bridge that runs as root it is the owner of the workspace: the kernel treats a program
 * of root's as root even inside its namespaces, and lets it write `/proc/sys` and read `/etc/shadow`.
 */
export async function chooseAccount(workspace: string): Promise<AccountChoice> {
  const own = { uid: process.getuid?.() ?? ROOT, gid: process.getgid?.() ?? ROOT };
  if (own.uid !== ROOT) {
    const name = process.env['USER'] ?? String(own.uid);
    return { ok: true, account: { ...own, name, home: homedir(), prefix: [] } };
  }
  const { uid, gid } = await stat(workspace);
  if (uid === ROOT) return { ok: false, reason: rootOwns(await ownerLine(workspace)) };
  const setpriv = await findProgram('setpriv');
  if (setpriv === undefined) return { ok: false, reason: NO_SETPRIV };
  const user = await readUser(uid).catch(() => undefined);
  if (user === undefined) return { ok: false, reason: NO_USER };
  const { name, home } = user;
  const drop = ['--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups', '--inh-caps=-all'];
  return { ok: true, account: { uid, gid, name, home, prefix: [setpriv, ...drop, '--'] } };
}

/** The paths that the account may read. Bubblewrap does not start when it cannot bind a path. */
export async function reachableBy(
  { prefix }: CommandUser,
  paths: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const [program, ...args] = prefix;
  if (program === undefined || paths.size === 0) return paths;
  const script = 'for path; do [ -r "$path" ] && printf "%s\\0" "$path"; done; true';
  const argv = [program, ...args, '/bin/sh', '-c', script, 'sh', ...paths] as const;
  const { output } = await printedBy(argv, { env: {}, timeout: SANDBOX_LIMITS.probeMs });
  return new Set(output.split('\0').slice(0, -1));
}

const ROOT = 0;

const rootOwns = (chown: string) =>
  'The bridge runs as root and root owns the folder, so a command would have every right on this machine. ' +
  `\`${chown}\` gives the folder to a user as whom commands then run.`;

const NO_SETPRIV =
  'The bridge runs as root, and setpriv, which would run commands as the owner of the workspace, is not installed: ' +
  'install the package "util-linux", or start Drawbridge as the user who owns the workspace.';

const NO_USER =
  'The system does not say which home folder the owner of the workspace has, and it must be closed to commands: see ' +
  'whether `getent passwd` works, and start the bridge again.';

/**
 * From passwd(5), by getent where that is installed. A user without an entry gets the number as name, and no home.
 * Rejects where it cannot be read: commands would see the home folder of a user that seems to have none.
 */
export async function readUser(
  uid: number,
  getent?: string,
): Promise<Pick<CommandUser, 'name' | 'home'>> {
  const program = getent ?? (await findProgram('getent'));
  const line = program === undefined ? await lineInFile(uid) : await lineBy(program, uid);
  const [name = '', , , , , home = '', ...shell] = line.trim().split(':');
  if (line !== '' && shell.length !== 1) throw new Error('that is no line of passwd(5)');
  return { name: name === '' ? String(uid) : name, home: home === '' ? '/nonexistent' : home };
}

async function lineBy(getent: string, uid: number): Promise<string> {
  const meant = [0, NO_ENTRY];
  const asked = { meant, env: {}, timeout: SANDBOX_LIMITS.probeMs };
  return (await printedBy([getent, 'passwd', `${uid}`], asked)).output;
}

/** The exit code of getent(1). */
const NO_ENTRY = 2;

async function lineInFile(uid: number): Promise<string> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n');
  return lines.find((line) => line.split(':')[2] === String(uid)) ?? '';
}
