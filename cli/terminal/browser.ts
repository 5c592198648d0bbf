/** Opens the person's browser. */
import { spawn } from 'node:child_process';
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join, sep } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether a browser that is opened here shows up where the person is. */
export function hasDisplay(environment: Environment): boolean {
  if (environment['SSH_CONNECTION']) return false;
  const { DISPLAY, WAYLAND_DISPLAY } = environment;
  return process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY);
}

/**
 * Opens a URL or a file, if the machine has a program for it. Other users can read it in the list of processes. No
 * program in `workspaceDir` is used, because the agent can write there.
 */
export function openInBrowser(what: string, workspaceDir: string): boolean {
  const folders = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isIn(workspaceDir, folder));
  const name = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const program = folders.map((folder) => join(folder, name)).find(isProgram);
  if (program === undefined) return false;
  // The opener is a script that finds other programs by this path.
  const env = { ...process.env, PATH: folders.join(delimiter) };
  const child = spawn(program, [what], { cwd: '/', env, stdio: 'ignore', detached: true });
  child.once('error', () => {}).unref();
  return true;
}

function isIn(workspaceDir: string, folder: string): boolean {
  try {
    return `${realpathSync(folder)}${sep}`.startsWith(join(realpathSync(workspaceDir), sep));
  } catch {
    return true; // There is no such folder.
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
