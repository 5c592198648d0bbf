/** Reads the keys that config.json refers to. */
import { type ChildProcess, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { LocalError } from '../../machine/local-error.ts';
import { readPlainFile } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import type { KeyReference } from './schema.ts';

/** A key that a setting refers to. */
export interface NeededKey {
  readonly reference: KeyReference;
  /** The setting: `models[0].key`. */
  readonly place: string;
  /** The folder of config.json. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Shows the person a danger, in one line. */
  onWarning(line: string): void;
}

/** The key itself. @throws {LocalError} without one, or for several lines. No message has a part of it. */
export async function openKey(request: NeededKey, signal: AbortSignal): Promise<string> {
  const { reference, env } = request;
  if ('env' in reference) {
    const key = (env[reference.env] ?? '').trim();
    if (key !== '') return requireKey(key, request, `the variable ${reference.env}`);
    throw refuse(request, `the variable ${reference.env} is not set: set it in the environment`);
  }
  if ('file' in reference) return await readKeyFile(reference.file, request);
  return await runKeyCommand(reference.command, request, signal);
}

async function readKeyFile(name: string, request: NeededKey): Promise<string> {
  const path = name.startsWith('~/')
    ? join(homedir(), name.slice(2))
    : resolve(request.folder, name);
  const what = `the file ${nameInLine(path)}`;
  let text: string;
  try {
    text = await readPlainFile(path);
  } catch (cause) {
    throw refuse(request, `${what} ${reasonOf(cause)}`, cause);
  }
  const OTHERS_READ = 0o004;
  if (((await stat(path)).mode & OTHERS_READ) !== 0) {
    request.onWarning(
      `Every user of this machine may read ${what}: run \`chmod 600 ${nameInLine(path)}\`.`,
    );
  }
  return requireKey(text, request, what);
}

function reasonOf(error: unknown): string {
  if (isSystemError(error, 'ENOENT')) return 'does not exist: write the key into it';
  if (isSystemError(error, 'EINVAL', 'EISDIR')) return 'is no file: name a file that has the key';
  if (isSystemError(error, 'EACCES', 'EPERM')) return 'may not be read: change its permissions';
  if (isSystemError(error, 'EFBIG')) return 'is too large for a key';
  return 'cannot be read';
}

/** Its errors do not show what the program printed: that may be a part of the key. */
async function runKeyCommand(
  command: readonly string[],
  request: NeededKey,
  signal: AbortSignal,
): Promise<string> {
  const [program = '', ...args] = command;
  const what = `the command ${nameInLine(program)}`;
  const { text, end } = await runForText([program, ...args], request, signal);
  signal.throwIfAborted();
  if (end === 'late') {
    throw refuse(request, `${what} did not end within ${LOCAL_LIMITS.keyCommandMs / 1000} s`);
  }
  if (end === 'long') throw refuse(request, `${what} prints far more than a key`);
  if (end !== 0) throw refuse(request, `${what} ${end}: run it in a terminal to see why`);
  return requireKey(text, request, `what ${what} prints`);
}

interface Printed {
  readonly text: string;
  /** 0 for success; otherwise what happened, as the end of the sentence "the command x …". */
  readonly end: 0 | 'late' | 'long' | string;
}

/**
 * Runs a program without a terminal. Ends it, and what it has started, when it is late or prints too much. It runs in
 * the folder of config.json: in a workspace, `./tool`, `npx` or `git` could start what the workspace has put there.
 */
async function runForText(
  [program, ...args]: readonly [string, ...string[]],
  { env, folder: cwd }: NeededKey,
  signal: AbortSignal,
): Promise<Printed> {
  return await new Promise((resolve) => {
    let text = '';
    let child: ChildProcess | undefined;
    const settle = (end: Printed['end']) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      for (const name of ENDING) process.off(name, endWith);
      killGroup(child?.pid);
      child?.stdout?.destroy();
      resolve({ text, end });
    };
    // The group of its own gets no Ctrl-C from the terminal.
    const endWith = (name: NodeJS.Signals) => {
      settle('was cancelled');
      if (process.listenerCount(name) === 0) process.kill(process.pid, name);
    };
    // Before the program runs: a signal in between would leave it behind.
    for (const name of ENDING) process.on(name, endWith);
    const timer = setTimeout(settle, LOCAL_LIMITS.keyCommandMs, 'late');
    const onAbort = () => settle('was cancelled');
    signal.addEventListener('abort', onAbort);
    try {
      child = spawn(program, args, {
        stdio: ['ignore', 'pipe', 'ignore'],
        detached: true,
        env,
        cwd,
      });
    } catch {
      return settle('could not be started'); // Some reasons are thrown, others come as an event.
    }
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (text.length > LOCAL_LIMITS.maxKeyChars) settle('long');
    });
    child.on('error', (error) =>
      settle(isSystemError(error, 'ENOENT') ? 'was not found' : 'could not be started'),
    );
    // What the program has left behind may hold its output open.
    child.on('exit', () => killGroup(child?.pid));
    child.on('close', (code) => settle(code === 0 ? 0 : `failed (${code ?? 'killed'})`));
    if (signal.aborted) onAbort();
  });
}

/** What ends this program ends the program that prints its key. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The program leads a group of its own. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them are gone.
  }
}

/** A key goes into an HTTP header: one line of visible ASCII. */
function requireKey(text: string, request: NeededKey, what: string): string {
  const key = text.trim();
  if (key === '') throw refuse(request, `${what} is empty`);
  if (/[\r\n]/.test(key))
    throw refuse(request, `${what} has more than one line: a key is one line`);
  if (key.length > LOCAL_LIMITS.maxKeyChars) throw refuse(request, `${what} is too long for a key`);
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw refuse(request, `${what} is no key: a key has only visible ASCII characters and no spaces`);
}

function refuse({ place }: NeededKey, reason: string, cause?: unknown): LocalError {
  return new LocalError('refused', `config.json, ${place}: ${reason}.`, { cause });
}
