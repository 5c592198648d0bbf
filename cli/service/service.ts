/** `drawbridge service`: has the system start the server at your login. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { KEPT_MARK } from '../../bin/kept-build.mjs';
import { readSettings } from '../../local/config/settings.ts';
import { IS_COPY, OWN_ROOT } from '../../local/own-root.ts';
import type { Programs } from '../../local/server/worker.ts';
import { sharedServerDir } from '../../local/state/folder.ts';
import { LocalError } from '../../machine/local-error.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { runInBackground } from '../server/daemon.ts';
import { addShownOptions, showServerLog } from '../server/logs.ts';
import { stopServer } from '../server/stop.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import { findManager, install, isInstalled, remove, writeJob } from './manager.ts';
import type { Job } from './unit.ts';

export function registerService(program: Command, programs: Programs): void {
  const service = program
    .command('service')
    .description('Run the server as a service, which starts at your login');
  service
    .command('install')
    .description('Start the server now and at each login')
    .action(() => installService(programs));
  service.command('status').description('Show the status of the service').action(showStatus);
  addShownOptions(service.command('logs'))
    .description('Show the log of the server')
    .action(async (options) => showServerLog(await sharedServerDir(), options));
  service
    .command('uninstall')
    .description('Stop the server, and no longer start it at login')
    .action(uninstallService);
  service.command('run', { hidden: true }).action(async () => {
    const place = { kind: 'shared', serverDir: await sharedServerDir() } as const;
    await runInBackground(place, programs);
  });
}

async function installService({ daemon, drawbridge }: Programs): Promise<void> {
  const manager = findManager();
  const terminal = openTerminal(process, process.env);
  const job: Job = {
    command: [...(daemon ?? drawbridge), 'service', 'run'],
    environment: jobEnvironment(),
  };
  await warnOfKeys(terminal, job);
  keepCopy();
  writeJob(manager, job);
  await install(manager, async () => {
    // A server that a terminal has started would keep the service from starting.
    if (await stopServer(await sharedServerDir())) {
      terminal.write('Stopped the background server; the service runs it from now on.\n');
    }
  });
  terminal.write(`The server runs as a service of ${manager.name}. ${manager.hint}\n`);
}

/** Keeps the copy that the job runs, not its origin: an agent could have changed that before the next login. */
function keepCopy(): void {
  if (!IS_COPY) return;
  writeFileSync(join(OWN_ROOT, KEPT_MARK), '');
  const copies = readdirSync(dirname(OWN_ROOT)).map((name) => join(dirname(OWN_ROOT), name));
  for (const copy of copies) {
    if (copy !== OWN_ROOT) rmSync(join(copy, KEPT_MARK), { force: true });
  }
}

/** What the commands of bridges need to be found, and where our own files are. */
function jobEnvironment(): Record<string, string> {
  const names = ['PATH', 'LANG', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'SSH_AUTH_SOCK'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value ? [[name, value]] : [];
    }),
  );
}

/** The service has only the file's settings and its own environment. */
async function warnOfKeys(terminal: Terminal, { environment }: Job): Promise<void> {
  const { keyNames, isModelChosen } = await readSettings(environment);
  const lost = keyNames.filter((name) => !environment[name]);
  if (lost.length > 0) {
    const text = `The service does not inherit ${lost.join(', ')} from this terminal: name the key in config.json by a file or a command (\`${ownCommand('config', 'edit')}\`).`;
    throw new LocalError('refused', text);
  }
  if (isModelChosen) return;
  const choose = ownCommand('config', 'model');
  terminal.write(
    `No model is set in config.json, so the demo will answer: \`${choose}\` sets one.\n`,
  );
}

/** Passes on what the system's own program says, and its exit code. */
async function showStatus(): Promise<void> {
  const manager = findManager();
  if (!isInstalled(manager)) {
    process.exitCode = EXIT.failure;
    const start = ownCommand('service', 'install');
    openTerminal(process, process.env).write(`There is no service: \`${start}\` makes one.\n`);
    return;
  }
  const [program = '', ...args] = manager.status();
  const child = spawn(program, args, { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  process.exitCode = code === 0 ? EXIT.success : EXIT.failure;
}

async function uninstallService(): Promise<void> {
  const manager = findManager();
  const { write } = openTerminal(process, process.env);
  if (!isInstalled(manager)) return write('There is no service.\n');
  const said = await remove(manager);
  await stopServer(await sharedServerDir());
  if (said !== undefined) write(`${manager.name} did not answer (${inOneLine(said)}).\n`);
  write('Removed the service. Conversations and settings stay.\n');
}
