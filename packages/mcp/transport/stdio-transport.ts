/** A program that speaks MCP on its standard input and output, as the SDK takes it. Bounded whatever the program prints. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  SdkError,
  SdkErrorCode,
  type Transport,
} from '@modelcontextprotocol/client';
import { newDeferred } from '../../../machine/deferred.ts';
import { parsePruned } from '../../../shared/text/json.ts';
import { JSON_LIMITS } from '../../../shared/text/limits.ts';
import {
  type Launch,
  PacedReading,
  type Program,
  spawnLaunch,
  TERMINAL_LIMITS,
} from '../../sandbox/index.ts';
import { MCP_LIMITS } from '../limits.ts';

/**
 * Starts a program with the `spawn` that it is given, which works once. `spawn` returns a promise that resolves when all
 * processes of the program are gone. Rejects where the program may not be started.
 */
export type ProgramStart = (spawn: (launch: Launch) => Promise<void>) => Promise<void>;

/** Leads its own process group, so that programs which the server starts end with it. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #begin: ProgramStart;
  readonly #onStderr: (text: string) => void;
  readonly #lines = new MessageLines();
  readonly #over = newDeferred<void>();
  #program: Program | undefined;
  #strayLines = 0;
  #endReason: string | undefined;
  #ending: Promise<void> | undefined;

  constructor(begin: ProgramStart, onStderr: (text: string) => void) {
    this.#begin = begin;
    this.#onStderr = onStderr;
  }

  /** By this and {@link stderr} the SDK knows a program: one that is silent at first speaks an older version. */
  get pid(): number | undefined {
    return this.#program?.child.pid;
  }

  get stderr(): null {
    return null; // It is read here.
  }

  /** Why it ended, in a few words; undefined while it runs, and after {@link close}. */
  get endReason(): string | undefined {
    return this.#endReason;
  }

  /** Rejects when the program cannot be started. */
  async start(): Promise<void> {
    const started = newDeferred<void>();
    started.promise.catch(() => {}); // Where `begin` fails first.
    await this.#begin(async (launch) => {
      try {
        if (this.#ending) throw new Error('It was closed before it was started.');
        const child = this.#spawn(launch);
        child.once('spawn', started.resolve);
        child.once('error', started.reject);
      } catch (error) {
        return started.reject(error);
      }
      await this.#over.promise;
    });
    await started.promise;
  }

  #spawn(launch: Launch): ChildProcess {
    this.#program = spawnLaunch(launch, 'pipe');
    const { child } = this.#program;
    child.stdin?.on('error', () => {}); // A program that ends says why by its end.
    if (child.stdout) new PacedReading([child.stdout], (text) => this.#read(text));
    if (child.stderr) new PacedReading([child.stderr], this.#onStderr);
    child.once('exit', (code, signal) => {
      const end = () => this.#end(`it ended with ${signal ?? `exit code ${code}`}`);
      // Its last words are still in the pipes. A program that it left behind may hold them open for ever.
      child.once('close', end);
      setTimeout(end, TERMINAL_LIMITS.drainMs).unref();
    });
    return child;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#program?.child ?? {};
    if (!stdin?.writable) throw new SdkError(SdkErrorCode.NotConnected, 'The program has exited.');
    stdin.write(`${JSON.stringify(message)}\n`);
    if (stdin.writableLength > MCP_LIMITS.maxMessageBytes) this.#end('it does not read its input');
  }

  /** Closes the program's input, waits a little, and ends its group. Resolves when no process of it is left. */
  async close(): Promise<void> {
    this.#ending ??= this.#endProcesses(MCP_LIMITS.closeMs);
    await this.#ending;
  }

  #end(reason: string): void {
    if (this.#ending) return;
    this.#endReason = reason;
    this.#ending = this.#endProcesses(0);
  }

  async #endProcesses(graceMs: number): Promise<void> {
    const child = this.#program?.child;
    child?.stdin?.end();
    if (child && graceMs > 0) await exitOf(child, graceMs);
    await this.#program?.end();
    this.#lines.clear();
    child?.stdout?.destroy();
    child?.stderr?.destroy();
    this.#over.resolve();
    this.onclose?.();
  }

  #read(text: string): void {
    if (this.#ending !== undefined) return;
    for (const line of this.#lines.take(text)) this.#receive(line);
    if (this.#lines.length > MCP_LIMITS.maxMessageBytes) {
      this.#end(`it sent a message longer than ${MCP_LIMITS.maxMessageBytes} bytes`);
    }
  }

  #receive(line: string): void {
    const message = messageIn(line);
    if (message !== undefined) {
      this.#strayLines = 0;
      return this.onmessage?.(message);
    }
    this.#strayLines += 1;
    if (this.#strayLines > MCP_LIMITS.maxStrayLines) {
      this.#end('its standard output is no message, line after line');
    }
  }
}

/** Undefined for a line that is no message, such as a greeting. */
function messageIn(line: string): JSONRPCMessage | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return parseJSONRPCMessage(parsePruned(line, MAX_DEPTH));
  } catch {
    return undefined;
  }
}

/** A frame of ours around the deepest value that goes on to the edge. */
const MAX_DEPTH = JSON_LIMITS.maxDepth + JSON_LIMITS.envelope;

/** Collects text to lines. A long line costs no more than its length, however many pieces it comes in. */
class MessageLines {
  #pieces: string[] = [];
  /** UTF-16 units of the line that has not ended. */
  length = 0;

  take(text: string): string[] {
    const [first = '', ...others] = text.split('\n');
    this.#push(first);
    if (others.length === 0) return [];
    const line = this.#pieces.join('');
    this.clear();
    this.#push(others.pop() ?? '');
    return [line, ...others];
  }

  clear(): void {
    this.#pieces = [];
    this.length = 0;
  }

  #push(piece: string): void {
    this.#pieces.push(piece);
    this.length += piece.length;
  }
}

async function exitOf(child: ChildProcess, withinMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timeout = new AbortController();
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await Promise.race([exited, sleep(withinMs, undefined, { signal: timeout.signal })]).catch(
    () => {},
  );
  timeout.abort();
}
