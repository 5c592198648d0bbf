/** Commands as the machine without a sandbox would start them. */
import { readdir, readFile } from 'node:fs/promises';
import { type Launch, shellArgv } from '../../terminal/launch.ts';
import type { CommandFacts } from '../../terminal/process-book.ts';
import { type CommandOutcome, runCommand } from '../../terminal/run-command.ts';

export function plainLaunch(command: string): Launch {
  const [file, ...args] = shellArgv(command);
  const env = { PATH: process.env['PATH'] ?? '' };
  return { file, args, cwd: '/', env, inputs: [], hasPidNamespace: false };
}

/** A command of a conversation, outside of any sandbox. */
export function aboutCommand(command: string): CommandFacts {
  const about = { conversationId: 'conv_test', command, title: command, folder: '.' };
  return { ...about, permissions: [], hosts: [] };
}

/** Runs to the end, with a limit that only a failing test meets. */
export async function run(
  launch: Launch,
  options: Partial<Parameters<typeof runCommand>[1]> = {},
): Promise<CommandOutcome> {
  return await runCommand(launch, {
    timeoutMs: 15_000,
    onOutput: () => {},
    signal: new AbortController().signal,
    ...options,
  });
}

/** Whether any process has this text among its arguments; give each test a text of its own. */
export async function isAnyoneRunning(marker: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.some((line) => line.includes(marker));
}
