/** `drawbridge logs`: shows the logs of the server, the Worker and this folder's bridge. */
import { existsSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import * as z from 'zod';
import { bridgeLogOf } from '../../local/state/folder.ts';
import { resolveWorkspace } from '../../local/state/workspace.ts';
import { lookEvery } from '../../machine/keep-alive.ts';
import { LocalError } from '../../machine/local-error.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { parseIfJson } from '../../shared/text/json.ts';
import { printable } from '../../shared/text/plain-sight.ts';
import { TraceId } from '../../shared/wire/trace.ts';
import { CLI_LIMITS } from '../limits.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { wholeNumber } from '../terminal/whole-number.ts';

interface LogOptions {
  readonly follow: boolean;
  readonly lines: number;
  readonly json: boolean;
  /** Shows only the lines with this trace id. */
  readonly trace?: string;
}

type LogsOptions = LocationOptions & LogOptions;

const NAMES = ['server', 'worker', 'bridge'] as const;
type Name = (typeof NAMES)[number];

export function registerLogs(
  program: Command,
  findServerDir: (options: LocationOptions) => Promise<string>,
): void {
  const command = program
    .command('logs')
    .description("Show the logs of the server, of the Worker and of this folder's bridge")
    .addArgument(new Argument('[name]', 'one of these logs (default: all)').choices(NAMES));
  addLocationOptions(addShownOptions(command))
    .option('--trace <id>', 'show only the lines with this trace id', parseTrace)
    .action(async (name: Name | undefined, options: LogsOptions) => {
      const logsDir = join(await findServerDir(options), 'logs');
      const logs = await findLogs(logsDir, name ? [name] : NAMES, options);
      await showLogs(logs, options);
    });
}

/** Adds `--follow` and `--lines`. */
export function addShownOptions(command: Command): Command {
  return command
    .option('-f, --follow', 'keep printing new lines, until Ctrl-C', false)
    .option('--json', 'print the lines of JSON as they are', false)
    .option(
      '-n, --lines <number>',
      'how many lines of each log to show',
      wholeNumber(1, CLI_LIMITS.maxLogLines),
      20,
    );
}

/** Shows the server's own log. @throws {LocalError} if there is none. */
export async function showServerLog(serverDir: string, options: LogOptions): Promise<void> {
  await showLogs([{ name: 'server', path: join(serverDir, 'logs', 'server.log') }], options);
}

interface Log {
  readonly name: Name;
  readonly path: string;
}

async function findLogs(
  logsDir: string,
  names: readonly Name[],
  options: LocationOptions,
): Promise<Log[]> {
  const { workspaceDir } = await findLocation(options, 'running');
  const folder = await resolveWorkspace(workspaceDir).catch(() => workspaceDir);
  const paths: Readonly<Record<Name, string>> = {
    server: join(logsDir, 'server.log'),
    worker: join(logsDir, 'workerd.log'),
    bridge: await findBridgeLog(logsDir, folder, options),
  };
  return names.map((name) => ({ name, path: paths[name] }));
}

/** Where `--state` alone names a server, its only bridge is meant, whatever folder the person is in. */
async function findBridgeLog(
  logsDir: string,
  folder: string,
  { state, workspace }: LocationOptions,
): Promise<string> {
  const log = bridgeLogOf(logsDir, folder);
  if (state === undefined || workspace !== undefined || existsSync(log)) return log;
  const names = await readdir(logsDir).catch(() => []);
  const [only, ...others] = names.filter((name) => /^bridge-.*\.log$/.test(name));
  return only && others.length === 0 ? join(logsDir, only) : log;
}

async function showLogs(logs: readonly Log[], options: LogOptions): Promise<void> {
  const { follow, lines, json, trace } = options;
  const isShown = (line: string) =>
    line !== '' && (trace === undefined || parseEntry(line)?.['trace'] === trace);
  const { writeOut } = openTerminal(process, process.env);
  const show = ({ name }: Log, text: string) => {
    const prefix = logs.length > 1 ? `${name}: ` : '';
    for (const line of text.split('\n')) {
      if (isShown(line)) writeOut(`${prefix}${printable(json ? line : readable(line))}\n`);
    }
  };
  const readers = logs.map((log) => ({ log, reader: new LogReader(log.path) }));
  let hasAny = false;
  for (const { log, reader } of readers) {
    const text = await reader.tail(lines, isShown);
    hasAny ||= text !== undefined;
    show(log, text ?? '');
  }
  if (!follow && !hasAny) throw new LocalError('failed', 'There is no log yet.');
  if (!follow) return;
  const look = async () => {
    for (const { log, reader } of readers) show(log, await reader.news());
  };
  await lookEvery(CLI_LIMITS.logPollMs, look, abortOnInterrupt());
}

/** A line of JSON in words: time, event, ids and message. Other programs' lines stay as they are. */
function readable(line: string): string {
  const entry = parseEntry(line);
  if (!entry) return line;
  const { time, level, event, message, ...fields } = entry;
  const ids = Object.entries(fields).map(([name, value]) => `${name}=${wordOf(value)}`);
  const rest = message === undefined ? [] : [String(message)];
  return [time, ...(level === 'info' ? [] : [level]), event, ...ids, ...rest].join(' ');
}

/** Undefined for the runtime's own line, and for the stack of a crash. */
function parseEntry(line: string): z.infer<typeof Entry> | undefined {
  return Entry.safeParse(parseIfJson(line)).data;
}

const Entry = z.looseObject({ time: z.string(), level: z.string(), event: z.string() });

function wordOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Reads a log that grows, and that is renamed when it is full. */
class LogReader {
  readonly #path: string;
  #at = 0;
  #inode: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** The last lines of those that `isShown` takes; undefined without a log. */
  async tail(lines: number, isShown: (line: string) => boolean): Promise<string | undefined> {
    const stats = await statIfAny(this.#path);
    if (!stats) return undefined;
    this.#inode = stats.ino;
    this.#at = stats.size;
    const from = Math.max(0, stats.size - CLI_LIMITS.maxLogTailBytes);
    const bytes = await readPart(this.#path, from, stats.size);
    return bytes.toString().split('\n').filter(isShown).slice(-lines).join('\n');
  }

  /** The whole lines that were written since. A line that is longer than what is read at once comes in parts. */
  async news(): Promise<string> {
    const stats = await statIfAny(this.#path);
    if (!stats) return '';
    if (stats.ino !== this.#inode || stats.size < this.#at) this.#at = 0;
    this.#inode = stats.ino;
    const end = Math.min(stats.size, this.#at + CLI_LIMITS.maxLogTailBytes);
    const bytes = await readPart(this.#path, this.#at, end);
    const whole = bytes.lastIndexOf('\n') + 1;
    const isPart = whole === 0 && bytes.length === CLI_LIMITS.maxLogTailBytes;
    const read = bytes.subarray(0, isPart ? bytes.length : whole);
    this.#at += read.length;
    return read.toString();
  }
}

async function statIfAny(path: string): Promise<{ ino: number; size: number } | undefined> {
  return await stat(path).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  });
}

async function readPart(path: string, from: number, to: number): Promise<Buffer> {
  if (to <= from) return Buffer.alloc(0);
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function parseTrace(text: string): string {
  const { success, data } = TraceId.safeParse(text);
  if (success) return data;
  throw new InvalidArgumentError('A trace id has 32 hexadecimal digits in lower case.');
}
