/** The commands of one bridge that have a handle: those in the background, and ended ones with a long output. */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Permission } from '../../../shared/tools/run-terminal-cmd.ts';
import { TERMINAL_LIMITS } from './limits.ts';
import type { BoundedOutput } from './output.ts';
import type { CommandEnd, RunningCommand } from './running-command.ts';

/** What is known of a command when it starts. */
export interface CommandFacts {
  /** Only this conversation's calls find the process. */
  readonly conversationId: string;
  /** The line as it ran, which rules and questions show. */
  readonly command: string;
  /** The line as the call wrote it, for lists: without the session's variables, which may be secrets. */
  readonly title: string;
  /** Its folder relative to the workspace. */
  readonly folder: string;
  /** What it wanted beyond the sandbox, with `network` where it named hosts. */
  readonly permissions: readonly Permission[];
  /** The hosts that it named; it keeps them for as long as it runs. */
  readonly hosts: readonly string[];
  /** Enters the network that the command is in; absent where it shares none with others. */
  readonly openDialer?: (() => Promise<Dialer>) | undefined;
}

/** Connects to ports at the loopback interface of a command's network. Aborts its signal when it no longer can. */
export interface Dialer extends Disposable {
  readonly ended: AbortSignal;
  /** Rejects where nothing listens. */
  readonly connect: (port: number) => Promise<Socket>;
}

/** One command with its handle. */
export interface KnownProcess extends CommandFacts {
  readonly id: string;
  readonly startedAtMs: number;
  readonly output: BoundedOutput;
  /**
   * Where the next page begins for a reader that names no position: behind what the conversation was shown. Of an ended
   * command that is the beginning of what its result left out.
   */
  shownTo: number;
  state: ProcessState;
}

export type ProcessState =
  | { readonly state: 'running'; readonly command: RunningCommand }
  | { readonly state: 'ended'; readonly end: CommandEnd; readonly endedAtMs: number };

/** Ends a process with all that it has started, and resolves when it has gone. One that has stopped stays as it is. */
export async function stopProcess(
  { state }: KnownProcess,
  reason: 'agent' | 'person',
): Promise<void> {
  if (state.state === 'ended') return;
  state.command.stop(reason);
  await state.command.ended;
}

/** In memory alone: a process ends with its bridge, and the next bridge does not know its id. */
export class ProcessBook {
  readonly #processes = new Map<string, KnownProcess>();

  /** Gives a command its handle. Of too many ended commands the one that ended first is forgotten. */
  add(
    facts: CommandFacts,
    work: Pick<KnownProcess, 'output' | 'startedAtMs' | 'state'>,
  ): KnownProcess {
    const { output, state } = work;
    const shownTo = state.state === 'ended' ? output.headLength : output.length;
    const process = { ...facts, ...work, id: this.#newId(), shownTo };
    this.#processes.set(process.id, process);
    this.#forgetOldest();
    return process;
  }

  end(process: KnownProcess, end: CommandEnd): void {
    process.state = { state: 'ended', end, endedAtMs: Date.now() };
    this.#forgetOldest();
  }

  get(id: string): KnownProcess | undefined {
    return this.#processes.get(id);
  }

  /** Undefined also for the process of another conversation. */
  find(id: string, conversationId: string): KnownProcess | undefined {
    const process = this.#processes.get(id);
    return process?.conversationId === conversationId ? process : undefined;
  }

  /** Those of every conversation, in the order of their starts. */
  get all(): KnownProcess[] {
    return [...this.#processes.values()];
  }

  /** Those of one conversation, likewise. */
  list(conversationId: string): KnownProcess[] {
    return this.all.filter((each) => each.conversationId === conversationId);
  }

  #newId(): string {
    // Long enough that no conversation takes a process of this bridge for one of an earlier bridge.
    const id = `proc_${randomBytes(4).toString('hex')}`;
    return this.#processes.has(id) ? this.#newId() : id;
  }

  #forgetOldest(): void {
    const ended = this.all.flatMap(({ id, state }) =>
      state.state === 'ended' ? [{ id, endedAtMs: state.endedAtMs }] : [],
    );
    ended.sort((one, other) => one.endedAtMs - other.endedAtMs);
    const surplus = Math.max(0, ended.length - TERMINAL_LIMITS.maxEnded);
    for (const { id } of ended.slice(0, surplus)) this.#processes.delete(id);
  }
}
