/** The user that sandboxed commands run as: never root, even where the bridge runs as root. */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { promisify } from 'node:util';
import { SANDBOX_LIMITS } from './limits.ts';
import { findProgram } from './programs.ts';

/** The user whose rights a command has outside its namespaces. */
export interface CommandUser {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
  readonly home: string;
  /** Stands before a program to run it as this user. Empty where the bridge already runs as this user. */
  readonly prefix: readonly string[];
}

/**
 * The ids by which the kernel decides what a command may enter. A command has no further groups and no capabilities.
 */
export type Rights = Pick<CommandUser, 'uid' | 'gid'>;

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
  if (uid === ROOT) return { ok: false, reason: ROOT_OWNS };
  const setpriv = await findProgram('setpriv');
  if (setpriv === undefined) return { ok: false, reason: NO_SETPRIV };
  const { name, home } = await passwdEntry(uid);
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
  const argv = [...args, '/bin/sh', '-c', script, 'sh', ...paths];
  const options = { env: {}, timeout: SANDBOX_LIMITS.probeMs };
  const { stdout } = await promisify(execFile)(program, argv, options);
  return new Set(stdout.split('\0').slice(0, -1));
}

const ROOT = 0;

const ROOT_OWNS =
  'The bridge runs as root and root owns the workspace, so a command would be root to the kernel: give the folder to ' +
  'another user (chown -R USER FOLDER), or start Drawbridge as the user who owns it.';

const NO_SETPRIV =
  'The bridge runs as root, and setpriv, which would run commands as the owner of the workspace, is not installed: ' +
  'install the package "util-linux", or start Drawbridge as the user who owns the workspace.';

/** Reads passwd(5). A user without an entry gets the number as name, and no home. */
async function passwdEntry(uid: number): Promise<{ name: string; home: string }> {
  const options = { env: {}, timeout: SANDBOX_LIMITS.probeMs };
  const getent = (await findProgram('getent')) ?? 'getent';
  const { stdout } = await promisify(execFile)(getent, ['passwd', String(uid)], options).catch(
    () => ({ stdout: '' }),
  );
  const [name = '', , , , , home = ''] = stdout.trim().split(':');
  return { name: name === '' ? String(uid) : name, home: home === '' ? '/nonexistent' : home };
}
