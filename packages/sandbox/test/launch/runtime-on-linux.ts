/** The confinement for macOS with the runtime's own sandbox of Linux in the place of Seatbelt. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { onTestFinished } from 'vitest';
import { SYSTEM_PATH } from '../../../../machine/programs.ts';
import type { Confinement } from '../../launch/confinement.ts';
import { READ_SCRIPT, RUNTIME_VERSION, type SandboxRuntime } from '../../launch/runtime.ts';
import { runtimeConfinement } from '../../launch/runtime-confinement.ts';
import type { RuntimePlatform } from '../../launch/seatbelt.ts';
import { SHELL } from '../../terminal/launch.ts';
import { NO_BUBBLEWRAP, OWNER, type SandboxedWorkspace } from '../sandboxed-workspace.ts';

/** Why these tests cannot run here, for their title; undefined where they can. */
export const NO_RUNTIME = NO_BUBBLEWRAP;

/** The package that the tests have installed. */
export const RUNTIME_FOLDER: string = join(
  import.meta.dirname,
  '../../../../node_modules/@anthropic-ai/sandbox-runtime',
);

/** Bubblewrap's rules are about files that are there, and the line is one for a shell. */
const LINUX: RuntimePlatform = {
  closed: () => [],
  argvOf: (line) => ['/bin/sh', '-c', line],
  // Seatbelt alone has a profile for these commands.
  openArgv: () => [SHELL, '-c', READ_SCRIPT],
};

/**
 * The runtime in a process for each sandbox, which stays until the test's end: on Linux the runtime keeps files that its
 * sandboxes need, and removes them with its process.
 */
function linuxRuntime(home: string): SandboxRuntime {
  return {
    version: RUNTIME_VERSION,
    wrap: async (config, cwd) => {
      const env = { PATH: `${dirname(rgPath)}:${SYSTEM_PATH}`, HOME: home };
      const child = spawn(process.execPath, ['--input-type=module', '--eval', WRAP_AND_STAY], {
        cwd,
        env,
        ...OWNER,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      onTestFinished(async () => {
        child.stdin.end();
        await once(child, 'exit');
      });
      const url = pathToFileURL(join(RUNTIME_FOLDER, 'dist/index.js')).href;
      child.stdin.write(`${JSON.stringify([url, READ_SCRIPT, SHELL, config])}\n`);
      const [line] = await once(createInterface(child.stdout), 'line');
      return JSON.parse(line);
    },
  };
}

const WRAP_AND_STAY = `
import { createInterface } from 'node:readline';
for await (const line of createInterface(process.stdin)) {
  const [url, script, shell, config] = JSON.parse(line);
  const { SandboxManager } = await import(url);
  console.log(JSON.stringify(await SandboxManager.wrapWithSandbox(script, shell, config)));
}
`;

/** For one test. */
export async function runtimeOnLinux({
  account,
  surroundings,
}: Pick<SandboxedWorkspace, 'account' | 'surroundings'>): Promise<Confinement> {
  const base = { runtime: linuxRuntime(surroundings.home), platform: LINUX, account };
  const made = await runtimeConfinement(base, surroundings);
  if (!made.ok) throw new Error(made.reason);
  onTestFinished(() => made.confinement[Symbol.dispose]());
  return made.confinement;
}
