/** Machines beside the one that a house runs on, each with a home of its own. They share only the network. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runDrawbridge, startDrawbridge } from '../cli/drawbridge.ts';
import { openPseudoTerminal } from '../cli/pseudo-terminal.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { DRAWBRIDGE, type House } from './house.ts';

/** The launcher: the program that tests start otherwise has no real bridges in the background. */
const program: [string, string] = [process.execPath, DRAWBRIDGE];

export function newMachine(more: NodeJS.ProcessEnv = {}) {
  const home = temporaryFolder();
  const env = {
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
    ...more,
  };
  const folder = (name: string) => {
    const path = join(home, name);
    mkdirSync(path);
    writeFileSync(join(path, `of-${name}.txt`), name);
    return path;
  };
  const stateDir = join(home, 'state', 'drawbridge', 'server');
  return {
    env,
    folder,
    stateDir,
    logins: () => readFileSync(join(stateDir, 'logins.json'), 'utf8'),
    run: (args: string[], cwd = home) => runDrawbridge(args, { env, cwd, program }),
    start: (args: string[], cwd = home, input?: string) =>
      startDrawbridge(args, { env, cwd, program, ...(input !== undefined && { input }) }),
    terminal: (args: string[], cwd = home) =>
      openPseudoTerminal([process.execPath, DRAWBRIDGE, ...args], { env, cwd }),
  };
}

export type Machine = ReturnType<typeof newMachine>;

/** The link of an invitation into the account, as the operator makes one. */
export async function invitation(house: House, account: string): Promise<string> {
  const secretFile = join(house.state, 'auth-secret');
  const at = ['--url', house.ready.url, '--secret-file', secretFile];
  const { stdout, code } = await runDrawbridge(['invite', account, ...at]);
  expect(code).toBe(0);
  return stdout.trim();
}

/** Signs the machine in with a link. */
export async function signInWith(machine: Machine, link: string): Promise<void> {
  const { finished } = machine.start(['login', '-'], undefined, link);
  expect(await finished).toMatchObject({ code: 0 });
}
