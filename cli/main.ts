/** The `drawbridge` command: registers its subcommands and reports their failures. */
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import {
  IS_CLONE,
  IS_COPY,
  IS_PUBLISHED,
  OWN_NODE,
  OWN_ROOT,
  OWN_VERSION,
} from '../local/own-root.ts';
import type { Programs } from '../local/server/worker.ts';
import { settleHome } from '../machine/home-folder.ts';
import { LocalError } from '../machine/local-error.ts';
import { inOneLine } from '../shared/text/plain-sight.ts';
import { registerUsage } from './account/usage.ts';
import { registerAgents } from './agents/agents.ts';
import { registerApprovals } from './chat/approvals-command.ts';
import { registerChat } from './chat/command.ts';
import { registerPlan } from './chat/plan-command.ts';
import { registerUndo } from './chat/undo-command.ts';
import { registerCompletion } from './completion/completion.ts';
import { Interrupted } from './config/choose-model.ts';
import { registerConfig } from './config/config.ts';
import { registerConversations } from './conversations/conversations.ts';
import { registerExport } from './conversations/export.ts';
import { registerDoctor } from './doctor/doctor.ts';
import { registerHelp } from './help/help.ts';
import { registerKeys } from './keys/keys.ts';
import { registerBridgeHost } from './server/bridge-host.ts';
import { registerServerCommands } from './server/commands.ts';
import { registerDaemon } from './server/daemon.ts';
import { registerOpen } from './server/open.ts';
import { registerProcesses } from './server/processes.ts';
import { registerServe } from './server/serve.ts';
import { registerUp } from './server/up.ts';
import { registerService } from './service/service.ts';
import { registerUninstall } from './service/uninstall.ts';
import { registerBackup } from './setup/backup.ts';
import { registerCheck } from './setup/check.ts';
import { registerCompanion } from './setup/companion.ts';
import { registerConnect } from './setup/connect/connect.ts';
import { registerDevices } from './setup/devices.ts';
import { registerIde } from './setup/ide/ide.ts';
import { registerMcp } from './setup/mcp/mcp.ts';
import { registerPolicy } from './setup/policy.ts';
import { registerQuarantine } from './setup/quarantine.ts';
import { registerToken } from './setup/token.ts';
import { registerWorktrees } from './setup/worktrees.ts';
import { endWhenUnread } from './terminal/ending.ts';
import { EXIT } from './terminal/exit-codes.ts';
import { describeFailure } from './terminal/failure-text.ts';
import { nameAdvice, UsageError } from './terminal/usage-error.ts';
import { tellOfUpdate } from './update/update-hint.ts';

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
  const ended = new AbortController();
  try {
    const program = newProgram(programs);
    program.hook('preAction', (_, command) => hintAtUpdate(command.name(), ended.signal));
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = reportFailure(error);
  } finally {
    ended.abort();
  }
}

/** The commands that run long enough for an answer of the registry. */
const LONG_COMMANDS: ReadonlySet<string> = new Set(['open', 'up', 'chat']);

/** A clone is updated by git. Of a package that is not published the registry knows nothing. */
async function hintAtUpdate(command: string, signal: AbortSignal): Promise<void> {
  if (IS_CLONE || !IS_PUBLISHED || !LONG_COMMANDS.has(command)) return;
  const { env, stdin, stdout, stderr } = process;
  const hint = {
    env,
    ownVersion: OWN_VERSION,
    now: new Date(),
    isTerminal: stdin.isTTY && stdout.isTTY && stderr.isTTY,
    write: (text: string) => void stderr.write(text),
  };
  await tellOfUpdate(hint, signal);
}

/** All commands. Tests take it apart. */
export function newProgram(programs: Programs): Command {
  const program = new Command('drawbridge')
    .description(
      'A coding agent behind an API. It works in a folder on your machine, under your rules.',
    )
    .version(OWN_VERSION)
    // Set before the subcommands are added: they inherit both.
    .exitOverride()
    .configureOutput({
      outputError: (message) =>
        complain(
          message
            .replace(/^error: /, '')
            .trim()
            .replaceAll('\n', ' '),
        ),
    });
  registerOpen(program, programs);
  registerServerCommands(program);
  registerProcesses(program);
  registerUp(program, programs);
  registerServe(program, programs);
  registerChat(program);
  registerPlan(program);
  registerUndo(program);
  registerApprovals(program);
  registerAgents(program);
  registerConversations(program);
  registerExport(program);
  registerUsage(program);
  registerKeys(program);
  registerConfig(program);
  registerConnect(program);
  registerBridgeHost(program);
  registerDaemon(program, programs);
  registerToken(program);
  registerPolicy(program);
  registerDevices(program);
  registerMcp(program);
  registerIde(program);
  registerCompanion(program);
  registerQuarantine(program);
  registerWorktrees(program);
  registerBackup(program);
  registerCheck(program);
  registerDoctor(program, programs);
  registerService(program, programs);
  registerUninstall(program);
  registerCompletion(program);
  registerHelp(program);
  for (const group of [program, ...program.commands]) refuseUnknownCommand(group);
  return program;
}

/** Commander suggests nothing here: it gives an unknown word to the group's default command. */
function refuseUnknownCommand(group: Command): void {
  group.hook('preSubcommand', () => {
    const [word = '-'] = group.args;
    if (word.startsWith('-') || group.commands.some((command) => command.name() === word)) return;
    const names = group
      .createHelp()
      .visibleCommands(group)
      .map((command) => command.name());
    group.error(`unknown command '${word}' of ${group.name()}: ${nameAdvice(word, names)}`);
  });
}

function reportFailure(error: unknown): number {
  if (error instanceof Interrupted) return EXIT.interrupted;
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.success : EXIT.usage;
  if (error instanceof UsageError || (error instanceof LocalError && error.kind === 'refused')) {
    complain(error.message);
    return EXIT.usage;
  }
  complain(describeFailure(error));
  return EXIT.failure;
}

function complain(message: string): void {
  process.stderr.write(`drawbridge: ${inOneLine(message.trim())}\n`);
}
