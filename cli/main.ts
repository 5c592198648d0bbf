/** The `drawbridge` command: loads what a command line needs, runs it, and reports its failure. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { IS_CLONE, IS_COPY, OWN_NODE, OWN_ROOT } from '../local/own-root.ts';
import type { Programs } from '../local/server/worker.ts';
import { settleHome } from '../machine/home-folder.ts';
import { LocalError } from '../machine/local-error.ts';
import { endWhenUnread } from './terminal/ending.ts';
import { EXIT } from './terminal/exit-codes.ts';
import { complain, describeFailure } from './terminal/failure-text.ts';
import { Interrupted } from './terminal/interrupted.ts';
import { UsageError } from './terminal/usage-error.ts';

const WORKER =
  IS_CLONE && !IS_COPY
    ? { workerEntry: join('worker', 'index.ts'), wranglerConfig: 'wrangler.toml' }
    : {
        workerEntry: join('dist', 'worker', 'worker.js'),
        wranglerConfig: join('dist', 'worker', 'wrangler.toml'),
      };

/** The programs that `up` starts: those of this clone, package or copy. */
export const OWN_PROGRAMS: Programs = {
  workerEntry: join(OWN_ROOT, WORKER.workerEntry),
  wranglerConfig: join(OWN_ROOT, WORKER.wranglerConfig),
  drawbridge: [OWN_NODE, join(OWN_ROOT, 'bin', 'drawbridge.mjs')],
};

/** Runs one command line. A failure prints one line to stderr and sets the exit code: 2 if refused, else 1. */
export async function main(args: readonly string[], programs = OWN_PROGRAMS): Promise<void> {
  endWhenUnread();
  settleHome(process.env);
  // Errors outside the awaited call, for example when the disk of the state has gone.
  process.on('uncaughtException', (error) => process.exit(reportFailure(error)));
  try {
    await run(args, programs);
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}

async function run(args: readonly string[], programs: Programs): Promise<void> {
  const words = args[0] === NPM_START ? wordsOfNpmStart(args.slice(1)) : args;
  const [first = ''] = words;
  if (first === BRIDGE_HOST) return await (await import('./server/bridge-host.ts')).runBridgeHost();
  const program = await loadProgram(first, programs);
  await program.parseAsync(words, { from: 'user' });
}

/** The first word of `npm start` (package.json). */
const NPM_START = 'npm-start';

/** At a terminal it ends in the chat. With options (`npm start -- --port 0`) and in a pipe it is `up`. */
function wordsOfNpmStart(words: readonly string[]): readonly string[] {
  const [first] = words;
  if (first === undefined) return process.stdin.isTTY && process.stdout.isTTY ? [] : ['up'];
  // `npm start -- up` and other commands are what they are anywhere.
  return first.startsWith('-') ? ['up', ...words] : words;
}

/** See local/bridge/host.ts. */
const BRIDGE_HOST = 'bridge-host';

type Register = (program: Command, programs: Programs) => void;

/** The commands of a start, by their first words. */
const OF_A_START: ReadonlyMap<string, () => Promise<Register>> = new Map([
  ['start', async () => (await import('./server/here.ts')).registerHere],
  ['up', async () => (await import('./server/up.ts')).registerUp],
  ['acp', async () => (await import('./acp/command.ts')).registerAcp],
  ['daemon', async () => (await import('./server/daemon.ts')).registerDaemon],
]);

/** Loads the commands of a start alone: all commands take as long to load as Node takes to start. */
async function loadProgram(first: string, programs: Programs): Promise<Command> {
  const load = isHere(first) ? OF_A_START.get('start') : OF_A_START.get(first);
  if (!load) return (await import('./commands.ts')).newProgram(programs);
  const { newCommandLine, refuseUnknownWords } = await import('./terminal/command-line.ts');
  const { registerHelp } = await import('./help/help.ts');
  const register = await load();
  const program = newCommandLine();
  register(program, programs);
  registerHelp(program);
  refuseUnknownWords(program);
  return program;
}

/** Whether a command line that begins so is a chat of the folder: with nothing, a sentence, or an option of it. */
function isHere(first: string): boolean {
  return first === '' || /\s|^(?:-p|--print|--continue|--resume|--model|--mode)$/.test(first);
}

function reportFailure(error: unknown): number {
  if (error instanceof Interrupted) return EXIT.interrupted;
  const refused = exitCodeOfCommander(error);
  if (refused !== undefined) return refused === 0 ? EXIT.success : EXIT.usage;
  const isUsage = error instanceof UsageError;
  complain(isUsage ? error.message : describeFailure(error));
  const isRefused = isUsage || (error instanceof LocalError && error.kind === 'refused');
  return isRefused ? EXIT.usage : EXIT.failure;
}

/** Of a `CommanderError`, whose class a process without a command line does not load. */
function exitCodeOfCommander(error: unknown): number | undefined {
  const isCommanders = error instanceof Error && 'code' in error && 'exitCode' in error;
  if (!isCommanders || !String(error.code).startsWith('commander.')) return undefined;
  return Number(error.exitCode);
}
