/** Finds `@anthropic-ai/sandbox-runtime`, which a person installs beside Drawbridge, and asks it for sandboxes. */
import { execFile } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';
import { isBelow } from '../../../machine/byte-path.ts';
import { SYSTEM_PATH } from '../../../machine/programs.ts';
import { words } from '../../../machine/words.ts';
import { parseIfJson } from '../../../shared/text/json.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { SHELL } from '../terminal/launch.ts';

const NAME = '@anthropic-ai/sandbox-runtime';

/** Its interface and its profiles change with each version, and this is the one that was read. */
export const RUNTIME_VERSION = '0.0.83';

/** A text may be a pattern. */
export type PathRule = string | { readonly path: string; readonly literal: true };

/**
 * The part of the runtime's configuration that is used. `allowRead` opens what lies in a path of `denyRead`; patterns and
 * narrower paths of `denyRead` count in it again. `denyWrite` counts before `allowWrite`.
 */
export interface SandboxRules {
  /** Absent where the whole network is open. */
  readonly network?: { readonly allowedDomains: readonly []; readonly deniedDomains: readonly [] };
  readonly filesystem: {
    readonly denyRead: readonly PathRule[];
    readonly allowRead: readonly PathRule[];
    readonly allowWrite: readonly PathRule[];
    readonly denyWrite: readonly PathRule[];
  };
}

export interface SandboxRuntime {
  readonly version: string;
  /**
   * Makes a line for a shell that starts {@link SHELL} with {@link READ_SCRIPT} in a sandbox. The folder `cwd`
   * is where the runtime looks for what it protects by itself. Rejects with a sentence.
   */
  readonly wrap: (rules: SandboxRules, cwd: string) => Promise<string>;
}

/** What every sandbox runs: the script from the first input. So a sandbox does not depend on its command. */
export const READ_SCRIPT = 'eval "$(exec /bin/cat <&3)"';

/** `reason` is one sentence that says what to do. */
export async function findRuntime(
  { workspace, home }: { readonly workspace: string; readonly home: string },
  folders: readonly string[] = packageFolders(),
): Promise<
  { readonly ok: true; readonly runtime: SandboxRuntime } | { readonly ok: false; reason: string }
> {
  const folder = await findPackage(folders);
  const toDo = `run \`npm install -g ${NAME}@${RUNTIME_VERSION}\` and start the bridge again.`;
  if (folder === undefined) return { ok: false, reason: `${NAME} is not installed: ${toDo}` };
  if (folder === workspace || isBelow(workspace, folder)) {
    const reason = `${NAME} lies in the workspace, where commands could change it: ${toDo}`;
    return { ok: false, reason };
  }
  const version = await versionIn(folder);
  if (version !== RUNTIME_VERSION) {
    const reason = `Drawbridge does not know version ${version ?? 'unknown'} of ${NAME}: ${toDo}`;
    return { ok: false, reason };
  }
  return { ok: true, runtime: runtimeIn(folder, home) };
}

/** Beside the program, where npm keeps global packages of this Node, and where package managers have them. */
function packageFolders(): string[] {
  return [
    ...(createRequire(import.meta.url).resolve.paths(NAME) ?? []),
    join(dirname(process.execPath), '../lib/node_modules'),
    ...words('/opt/homebrew/lib/node_modules /usr/local/lib/node_modules'),
  ];
}

async function findPackage(folders: readonly string[]): Promise<string | undefined> {
  const found = await Promise.all(
    folders.map((folder) => realpath(join(folder, NAME)).catch(() => undefined)),
  );
  return found.find((folder) => folder !== undefined);
}

/** Undefined for a package that is not whole. */
async function versionIn(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '');
  return Manifest.safeParse(parseIfJson(text)).data?.version;
}

const Manifest = z.object({ version: z.string().max(100) });

/**
 * The runtime in a process of its own: it keeps one configuration for a process, starts programs by their names, and
 * reads the environment.
 */
export function runtimeIn(folder: string, home: string): SandboxRuntime {
  const url = pathToFileURL(join(folder, 'dist/index.js')).href;
  const args = ['--input-type=module', '--eval', WRAP, '--', url, READ_SCRIPT, SHELL];
  return {
    version: RUNTIME_VERSION,
    wrap: async (rules, cwd) => {
      const env = { PATH: SYSTEM_PATH, HOME: home };
      const options = { cwd, env, timeout: SANDBOX_LIMITS.probeMs, maxBuffer: MAX_LINE_BYTES };
      const running = promisify(execFile)(process.execPath, args, options);
      running.child.stdin?.on('error', () => {}).end(JSON.stringify(rules));
      const { stdout } = await running.catch((cause) => {
        const said = /^\w*Error.*$/m.exec(String(cause.stderr))?.[0] ?? 'it printed no reason';
        throw new Error(`sandbox-runtime failed: ${said}`, { cause });
      });
      return stdout;
    },
  };
}

const WRAP = `
let rules = '';
for await (const text of process.stdin.setEncoding('utf8')) rules += text;
const [url, script, shell] = process.argv.slice(1);
const { SandboxManager } = await import(url);
const line = await SandboxManager.wrapWithSandbox(script, shell, JSON.parse(rules));
process.stdout.write(line, () => process.exit());
`;

/** A profile with {@link SANDBOX_LIMITS.maxMounts} long paths has less. The system takes no longer command line. */
const MAX_LINE_BYTES = 1024 * 1024;
