/** The `drawbridge` command: its subcommands, and what becomes of their failures. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { z } from 'zod';
import { ClientError } from '../client/error.ts';
import type { Programs } from '../local/instance.ts';
import { LocalError } from '../local/local-error.ts';
import { DrawbridgeError } from '../shared/errors.ts';
import { registerChat } from './chat-command.ts';
import { registerCheck } from './check.ts';
import { registerConnect } from './connect.ts';
import { registerConversations } from './conversations.ts';
import { describeError } from './error-text.ts';
import { EXIT } from './exit-codes.ts';
import { registerExport } from './export.ts';
import { registerQuarantine } from './quarantine.ts';
import { registerToken } from './token.ts';
import { registerUp } from './up.ts';
import { UsageError } from './usage-error.ts';
import { endWhenUnread } from './write-errors.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** What `up` starts: this very repository. */
const OWN_PROGRAMS: Programs = {
  workerEntry: join(ROOT, 'worker', 'index.ts'),
  wranglerConfig: join(ROOT, 'wrangler.toml'),
  drawbridge: [process.execPath, join(ROOT, 'bin', 'drawbridge.mjs')],
};

/** Runs one command line. A failure is one line on stderr and the exit code: 2 for what was asked, 1 for the rest. */
export async function main(args: readonly string[], programs = OWN_PROGRAMS): Promise<void> {
  endWhenUnread();
  try {
    await newProgram(programs).parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}

function newProgram(programs: Programs): Command {
  const program = new Command('drawbridge')
    .description(
      'A coding agent whose conversations live on the edge, and whose hands are on your machine.',
    )
    .version(readVersion())
    // Before the subcommands, which inherit both.
    .exitOverride()
    .configureOutput({ outputError: (message) => complain(message.replace(/^error: /, '')) });
  registerUp(program, programs);
  registerChat(program);
  registerConversations(program);
  registerExport(program);
  registerConnect(program);
  registerToken(program);
  registerQuarantine(program);
  registerCheck(program);
  return program;
}

function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.success : EXIT.usage;
  if (error instanceof UsageError || (error instanceof LocalError && error.kind === 'refused')) {
    complain(error.message);
    return EXIT.usage;
  }
  complain(describe(error));
  return EXIT.failure;
}

/** A bug is shown with its stack, an expected failure is not. */
function describe(error: unknown): string {
  if (error instanceof ClientError) return describeError(error);
  if (error instanceof LocalError || error instanceof DrawbridgeError) return error.message;
  return String((error as Error)?.stack ?? error);
}

function complain(message: string): void {
  process.stderr.write(`drawbridge: ${message.trim().replaceAll('\n', ' ')}\n`);
}

function readVersion(): string {
  const text = readFileSync(join(ROOT, 'package.json'), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
