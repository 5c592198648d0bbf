/** Runs lines that the rules allow in real shells, and lists what ran without their permission. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCommandLine } from '../../../bridge/admission/command-line.ts';
import type { Rule } from '../../../bridge/admission/rules.ts';
import { judge } from './judging.ts';

const ALLOWED = ['git status*', 'echo', 'echo *', 'true'];

const RULES = ALLOWED.map(
  (pattern): Rule => ({ tool: 'run_terminal_cmd', pattern, decision: 'allow' }),
);

/** Whether such a line would run without a question where no sandbox is. */
export function isAllowed(command: string): boolean {
  const policy = { workspace: '/w', isConfined: false, userRules: RULES, workspaceRules: [] };
  const call = { tool: 'run_terminal_cmd', arguments: { command }, mode: 'agent' } as const;
  return judge(call, policy).decision === 'allow';
}

/** What a run of the line shows against the verdict; empty for nothing. */
export type Oracle = (line: string, shell: 'bash' | 'dash') => Promise<string[]>;

/** One for each line at a time: it has folders of its own below `folder`. */
export async function createOracle(folder: string): Promise<Oracle> {
  const [bin, cwd, log] = [join(folder, 'bin'), join(folder, 'cwd'), join(folder, 'log')];
  await mkdir(bin, { recursive: true });
  for (const name of ['git', 'touch', 'sh']) {
    await writeFile(join(bin, name), STUB);
    await chmod(join(bin, name), 0o755);
  }
  await writeFile(join(folder, 'trace'), TRACE);
  const env = { PATH: bin, ORACLE_LOG: log, BASH_ENV: join(folder, 'trace') };
  return async (line, shell) => {
    await rm(cwd, { recursive: true, force: true });
    await mkdir(cwd);
    await writeFile(log, '');
    const complaints = await run(`/bin/${shell}`, line, { cwd, env });
    const records = (await readFile(log, 'utf8')).split('\0').slice(0, -1);
    return [
      ...(await readdir(cwd)).map((name) => `file ${name}`),
      ...complaints,
      ...records.filter((record) => !isExpected(record)),
      ...foreignArguments(line, records),
    ];
  };
}

/** Its own `touch` makes the file, so that a redirection and a command leave the same trace. */
const STUB = `#!/bin/dash
IFS='\x1f'
printf 'ran %s\\037%s\\0' "\${0##*/}" "$*" >> "$ORACLE_LOG"
case $0 in */touch) : > PWNED;; esac
`;

/** What Bash itself takes for a command, builtin or not, and what it does not find. */
const TRACE = `
command_not_found_handle() { builtin printf 'lost %s\\0' "$*" >> "$ORACLE_LOG"; }
set -T
trap 'printf "did %s\\0" "$BASH_COMMAND" >> "$ORACLE_LOG"' DEBUG
`;

function isExpected(record: string): boolean {
  if (record.startsWith('did ')) return /^did (?:git status|echo(?: |$)|true(?: |$))/.test(record);
  return record.startsWith('ran git\x1fstatus');
}

/** Where nothing is expanded, our words are the program's arguments. */
function foreignArguments(line: string, records: readonly string[]): string[] {
  if (/[$*?[{~]/.test(line)) return [];
  const known = new Set(parseCommandLine(line).commands.map(({ words }) => words.join('\x1f')));
  return records
    .filter((record) => record.startsWith('ran '))
    .filter((record) => !known.has(record.slice('ran '.length)))
    .map((record) => `other words: ${record}`);
}

async function run(
  shell: string,
  line: string,
  options: { cwd: string; env: Record<string, string> },
): Promise<string[]> {
  const stdio = ['ignore', 'ignore', 'pipe', 'pipe'] as const;
  // The fourth pipe is held by what a line leaves in the background, wherever its output goes.
  const child = spawn(shell, ['-c', line], {
    ...options,
    stdio: [...stdio],
    timeout: 1_000,
    killSignal: 'SIGKILL',
  });
  let complaints = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (complaints.length < 10_000) complaints += text;
  });
  child.stdio[3]?.on('data', () => {});
  await once(child, 'close');
  return complaints.split('\n').filter((text) => /: not found$/.test(text));
}
