/** The programs of each system that start the server at a login. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { LocalError } from '../../machine/local-error.ts';
import { replaceFile } from '../../machine/private-files.ts';
import { codeOf } from '../../machine/system-error.ts';
import { CLI_LIMITS } from '../limits.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { type Job, LAUNCHD_LABEL, launchdPlist, systemdUnit } from './unit.ts';

/** One system's way to keep a job running from login on. */
export interface Manager {
  readonly name: string;
  /** The file that says what to run. */
  readonly path: string;
  text(job: Job): string;
  /** Command lines, in order, once the file is there. They start nothing, and fail where the system does not answer. */
  prepare(): string[][];
  /** The command line that starts the job. */
  start(): string[];
  /** As `prepare`; the file is removed afterwards. */
  remove(): string[][];
  /** Its exit code is not 0 where the job does not run. */
  status(): string[];
  /** What a person may want to know after an install. */
  readonly hint: string;
}

/** @throws {LocalError} for a system that has neither. */
export function findManager(platform = process.platform): Manager {
  switch (platform) {
    case 'linux':
      return systemd();
    case 'darwin':
      return launchd();
    default:
      throw new LocalError(
        'refused',
        `There is no service for ${platform}: have your system run \`drawbridge start\` at login.`,
      );
  }
}

function systemd(): Manager {
  const { XDG_CONFIG_HOME: configured = '' } = process.env;
  const config = isAbsolute(configured) ? configured : join(homedir(), '.config');
  const unit = 'drawbridge.service';
  const own = ['systemctl', '--user'];
  return {
    name: 'systemd',
    path: join(config, 'systemd', 'user', unit),
    text: systemdUnit,
    prepare: () => [
      [...own, 'daemon-reload'],
      [...own, 'enable', unit],
    ],
    start: () => [...own, 'restart', unit],
    remove: () => [[...own, 'disable', '--now', unit]],
    status: () => [...own, '--no-pager', 'status', unit],
    hint: 'It starts at your login; `loginctl enable-linger` makes it start with the machine.',
  };
}

function launchd(): Manager {
  const domain = `gui/${process.getuid?.() ?? 0}`;
  const path = join(homedir(), 'Library', 'LaunchAgents', `${LAUNCHD_LABEL}.plist`);
  return {
    name: 'launchd',
    path,
    text: launchdPlist,
    prepare: () => [['launchctl', 'print', domain]],
    start: () => ['launchctl', 'bootstrap', domain, path],
    remove: () => [['launchctl', 'bootout', `${domain}/${LAUNCHD_LABEL}`]],
    status: () => ['launchctl', 'print', `${domain}/${LAUNCHD_LABEL}`],
    hint: 'It starts at your login.',
  };
}

/** Whether `install` has left its file. */
export function isInstalled({ path }: Manager): boolean {
  return existsSync(path);
}

/** Writes the file that says what to run. @throws {LocalError} if it cannot be written. */
export function writeJob({ path, text }: Manager, job: Job): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    replaceFile(path, text(job));
  } catch (cause) {
    const message = `${path} cannot be written (${codeOf(cause)}): make its folder writable, or start the server with \`${ownCommand('start')}\`.`;
    throw new LocalError('failed', message, { cause });
  }
}

/** Has the system run the job of the file. `makeWay` comes before the start. @throws {LocalError}; the file stays. */
export async function install(manager: Manager, makeWay: () => Promise<void>): Promise<void> {
  for (const command of manager.prepare()) await carryOut(manager, command);
  await makeWay();
  await carryOut(manager, manager.start());
}

/** Removes the job, also a half one. Resolves to what the system said to a command that failed: end it by hand. */
export async function remove(manager: Manager): Promise<string | undefined> {
  let said: string | undefined;
  for (const command of manager.remove()) said ??= await failureOf(command);
  rmSync(manager.path, { force: true });
  return said;
}

const run = promisify(execFile);

async function carryOut({ name, path }: Manager, command: string[]): Promise<void> {
  const said = await failureOf(command);
  if (said === undefined) return;
  const text = `\`${command.join(' ')}\` failed (${said}). ${path} is written. Run the command in a login session of yours, or use \`${ownCommand('start')}\` without ${name}.`;
  throw new LocalError('failed', text);
}

/** The first line of what a command says when it fails. */
async function failureOf([program = '', ...args]: string[]): Promise<string | undefined> {
  try {
    await run(program, args, { timeout: CLI_LIMITS.serviceMs });
    return undefined;
  } catch (error) {
    const { stderr = '', message } = Object(error);
    return (
      String(stderr || message)
        .trim()
        .split('\n')[0] ?? ''
    );
  }
}
