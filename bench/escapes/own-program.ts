/** Drawbridge's own program, installed in the workspace: it runs there while commands change its files. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const BIN = join(import.meta.dirname, '../../bin');

/** For each line: runs the `rg` that it finds, and its own files once more. */
const MAIN = `
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
const run = () => {
  const { rgPath } = createRequire(import.meta.url)('@vscode/ripgrep');
  const found = execFileSync('/bin/sh', [rgPath], { encoding: 'utf8' }).trim();
  const again = execFileSync(process.execPath, [fileURLToPath(new URL('part.js', import.meta.url))], { encoding: 'utf8' });
  return found + ' ' + again.trim();
};
for await (const _ of createInterface({ input: process.stdin })) console.log(run());
`;

/** The files of a project with the package and a search program. The launcher is the real one. */
export const OWN_PROJECT: Readonly<Record<string, string>> = {
  'package.json': '{}',
  'node_modules/drawbridge/package.json': '{"name":"drawbridge","type":"module"}',
  'node_modules/drawbridge/dist/cli/main.js': MAIN,
  'node_modules/drawbridge/dist/cli/part.js': "console.log('part')",
  ...Object.fromEntries(
    readdirSync(BIN)
      .filter((name) => name.endsWith('.mjs'))
      .map((name) => [
        `node_modules/drawbridge/bin/${name}`,
        readFileSync(join(BIN, name), 'utf8'),
      ]),
  ),
  'node_modules/@vscode/ripgrep/package.json':
    '{"main":"lib/index.js","optionalDependencies":{"@vscode/ripgrep-here":"1"}}',
  'node_modules/@vscode/ripgrep/lib/index.js':
    "exports.rgPath = require.resolve('@vscode/ripgrep-here/bin/rg')",
  'node_modules/@vscode/ripgrep-here/package.json': '{}',
  'node_modules/@vscode/ripgrep-here/bin/rg': 'echo found',
  'node_modules/workerd/package.json': '{"main":"lib/main.js"}',
  'node_modules/workerd/lib/main.js': '',
};

const EXPECTED = 'found part';

/** A running program. Both functions expect what the person has installed. */
export interface OwnProgram {
  /** Whether it ran anything else. */
  readonly isHit: () => Promise<boolean>;
  readonly end: () => void;
}

/** Starts the program as a person does, before any command. `programs` is a folder of this user's alone. */
export async function startOwnProgram(folder: string, programs: string): Promise<OwnProgram> {
  const launcher = join(folder, 'node_modules/drawbridge/bin/drawbridge.mjs');
  const child = spawn(process.execPath, [launcher], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: programs, DRAWBRIDGE_PROGRAMS: programs },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async () => {
    child.stdin.write('\n');
    const { value = '' } = await lines.next();
    return value;
  };
  const first = await ask();
  if (first !== EXPECTED) throw new Error(`Drawbridge's own program does not run: ${first}`);
  return { isHit: async () => (await ask()) !== EXPECTED, end: () => void child.kill() };
}
