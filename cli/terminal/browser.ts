/** Opens the person's browser. */

import { spawn } from 'node:child_process';
import { delimiter } from 'node:path';
import type { Environment } from '../../machine/environment.ts';
import { findProgram, foldersOutside } from './programs.ts';

/** Whether a browser that is opened here shows up where the person is. */
export function hasDisplay(environment: Environment): boolean {
  if (environment['SSH_CONNECTION']) return false;
  const { DISPLAY, WAYLAND_DISPLAY } = environment;
  return process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY);
}

/** Opens a URL or file, visible in the list of processes. No program in `workspaceDir`: the agent can write there. */
export function openInBrowser(what: string, workspaceDir: string): boolean {
  const folders = foldersOutside(workspaceDir);
  const program = findProgram(process.platform === 'darwin' ? 'open' : 'xdg-open', folders);
  if (program === undefined) return false;
  // The opener is a script that finds other programs by this path.
  const env = { ...process.env, PATH: folders.join(delimiter) };
  const child = spawn(program, [what], { cwd: '/', env, stdio: 'ignore', detached: true });
  child.once('error', () => {}).unref();
  return true;
}
