/** One command's processes, from the first one's start until all have gone. */

import type { ChildProcess } from 'node:child_process';
import { Readable, type Writable } from 'node:stream';
import { newDeferred } from '../../../machine/deferred.ts';
import { SecretFilter } from '../../../machine/secrets/filter.ts';
import type { Launch } from './launch.ts';
import { TERMINAL_LIMITS } from './limits.ts';
import { PacedReading } from './paced-reading.ts';
import type { ShellReport } from './shell-report.ts';
import { type Program, spawnLaunch } from './spawn-launch.ts';
import { endOf } from './stream-end.ts';

/** Why a command was stopped. `agent` and `person`: by its handle. */
export type StopReason = 'timeout' | 'cancelled' | 'agent' | 'person';

/** How a command ended. */
export type CommandEnd =
  | { readonly state: 'exited'; readonly exitCode: number }
  /** Killed by a signal that we did not send. */
  | { readonly state: 'killed'; readonly signal: string }
  | { readonly state: 'stopped'; readonly reason: StopReason }
  | { readonly state: 'not_started'; readonly message: string };

/** Starts with its construction. Leads its own process group, and leaves no process behind. */
export class RunningCommand {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Never rejects. Settles when its group has gone and all its output was passed on. */
  readonly ended: Promise<CommandEnd>;
  readonly #program: Program;
  readonly #reading: PacedReading;
  #stopReason: StopReason | undefined;
  #ending: Promise<void> | undefined;

  /** Without an open input, its standard input is empty. Secrets in its output are masked, however it prints them. */
  constructor(
    launch: Launch,
    onOutput: (text: string) => void,
    { hasInput = false }: { readonly hasInput?: boolean } = {},
  ) {
    this.#program = hasInput
      ? spawnLaunch({ ...launch, env: { ...launch.env, ...BELOW_A_SHELL } }, 'pipe')
      : spawnLaunch(launch, 'ignore');
    const { child } = this.#program;
    // A program that ends or closes its input loses what was on the way there.
    child.stdin?.on('error', () => {});
    this.pid = child.pid;
    this.#reading = new PacedReading(outputsOf(child), onOutput, () => new SecretFilter());
    this.ended = this.#watch();
  }

  /** Undefined where it has no input, or closed it, or the input was ended. */
  get input(): Writable | undefined {
    const { stdin } = this.#program.child;
    return stdin?.writable === true ? stdin : undefined;
  }

  /** What its shell has reported. For a launch that asks for it, after its end. */
  shellReport(): Promise<ShellReport | undefined> {
    return this.#program.shellReport();
  }

  /** Ends the command if it still runs. The first reason counts. */
  stop(reason: StopReason): void {
    this.#stopReason ??= reason;
    void this.#end();
  }

  /** Waits for `exit` and not for `close`: a process that inherited the pipes may hold them open for ever. */
  async #watch(): Promise<CommandEnd> {
    const { child } = this.#program;
    const own = await ownEndOf(child);
    const reason = this.#stopReason;
    await this.#end();
    this.#reading.end();
    // Later output of a process that left the group does not belong to this command.
    await Promise.all(outputsOf(child).map((stream) => endOf(stream, TERMINAL_LIMITS.drainMs)));
    this.#reading.finish();
    return reason === undefined ? own : { state: 'stopped', reason };
  }

  #end(): Promise<void> {
    this.#ending ??= this.#program.end();
    return this.#ending;
  }
}

/**
 * Node's pipes are sockets. A Bash that gets one takes itself for a remote login and runs `~/.bashrc`, unless another
 * shell is above it.
 */
const BELOW_A_SHELL = { SHLVL: '2' } as const;

function outputsOf(child: ChildProcess): Readable[] {
  return [child.stdout, child.stderr].filter((stream) => stream instanceof Readable);
}

function ownEndOf(child: ChildProcess): Promise<CommandEnd> {
  const { promise, resolve } = newDeferred<CommandEnd>();
  child.once('error', ({ message }) => resolve({ state: 'not_started', message }));
  child.once('exit', (exitCode, signal) =>
    resolve(
      exitCode === null
        ? { state: 'killed', signal: signal ?? 'unknown' }
        : { state: 'exited', exitCode },
    ),
  );
  return promise;
}
