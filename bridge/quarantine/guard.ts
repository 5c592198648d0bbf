/** Watches what commands leave in a workspace, so that the person's own programs do not run any of it. */
import { lstat } from 'node:fs/promises';
import type { LogIds } from '../../machine/log-line.ts';
import { isSystemError } from '../../machine/system-error.ts';
import type { AttentionItem } from '../../shared/wire/attention.ts';
import { aboutCall, callAtWork } from '../log.ts';
import { identityOf } from '../sandbox/view/scan.ts';
import { readKnown } from './known.ts';
import { QUARANTINE_LIMITS } from './limits.ts';
import { Looks, type LooksConfig } from './looks.ts';
import { QuarantineTelling } from './telling.ts';

export interface GuardConfig extends LooksConfig {
  /** Takes one line for the person at the machine. */
  readonly tell: (line: string) => void;
}

/** A command of the sandbox, from the moment before it is prepared. */
export interface GuardedCommand {
  /** Called when all of the command's processes have gone. Resolves with the things that the command made. */
  readonly ended: () => Promise<readonly AttentionItem[]>;
  /**
   * Called when the command's call returns while the command still runs. Resolves with the things made so far. Things
   * made until `end` settles are told at the machine, and with the result of a later call.
   */
  readonly leaves: (end: Promise<unknown>) => Promise<readonly AttentionItem[]>;
}

/** A running command: its text, when it began, and the call that it belongs to. */
interface CommandAtWork {
  readonly command: string;
  readonly sinceMs: number;
  readonly call: LogIds;
}

/**
 * The guard of one workspace. Everything that appears while a command runs counts as made by a command; everything else
 * is the person's. Looks run one after the other.
 */
export class WorkspaceGuard {
  readonly #workspace: string;
  readonly #looks: Looks;
  readonly #telling: QuarantineTelling;
  readonly #running = new Map<symbol, CommandAtWork>();
  /** The ends of commands whose calls have returned. */
  readonly #endings = new Set<Promise<void>>();
  #turn: Promise<unknown> = Promise.resolve();
  #watch: NodeJS.Timeout | undefined;

  /**
   * Searches first for things that commands of a killed bridge made. Runs before any command and before the sandbox.
   */
  static async open(config: GuardConfig): Promise<WorkspaceGuard> {
    const before = readKnown(config.stateDir);
    const wasOpen = before?.open === true;
    const looks = await Looks.open(config, wasOpen ? before.entries : {});
    const guard = new WorkspaceGuard(config, looks);
    if (wasOpen) await guard.#later(null);
    return guard;
  }

  private constructor({ workspace, tell }: GuardConfig, looks: Looks) {
    this.#workspace = workspace;
    this.#looks = looks;
    this.#telling = new QuarantineTelling(tell);
  }

  /**
   * The caller calls this before it prepares the command: then the paths that the sandbox protects are known, or are
   * looked at. When it resolves, the known things are on disk.
   */
  async begins(command: string): Promise<GuardedCommand> {
    const token = Symbol('command');
    await this.#inTurn(async () => {
      const isAlone = this.#running.size === 0;
      const isTheirs = isAlone && !this.#looks.isBehind;
      if (isTheirs) await this.#looks.learn();
      if (!isTheirs || this.#looks.hasFailures) {
        this.#telling.keep(await this.#look(command));
      }
      this.#looks.save({ open: true });
      this.#running.set(token, { command, sinceMs: Date.now(), call: callAtWork() });
    });
    const end = async () =>
      await this.#inTurn(async () => {
        const since = this.#running.get(token)?.sinceMs;
        this.#running.delete(token);
        return await this.#look(command, since);
      });
    return {
      ended: async () => this.#telling.told(await end()),
      leaves: async (ended) => {
        this.#keepWatch();
        const ending = ended.then(end).then((found) => this.#keep(found));
        this.#endings.add(ending);
        void ending.finally(() => this.#endings.delete(ending));
        return this.#telling.told(await this.#inTurn(() => this.#look(command)));
      },
    };
  }

  /**
   * Whether a command may have made the entry of this name in the workspace's own folder. Until the next look the entry
   * counts as absent.
   */
  async isForeign(name: string): Promise<boolean> {
    if (this.#running.size === 0) return false;
    try {
      const stats = await lstat(`${this.#workspace}/${name}`, { bigint: true });
      return !this.#looks.isKnown(identityOf(stats));
    } catch (error) {
      if (isSystemError(error, 'ENOENT')) return false;
      throw error;
    }
  }

  /** Adds these items to the next result again, because the result that told them is not shown. */
  tellAgain(items: readonly AttentionItem[]): void {
    this.#telling.keep(items);
  }

  /** Called when all commands have ended. Everything that appears afterwards is the person's. */
  async close(): Promise<void> {
    clearInterval(this.#watch);
    await Promise.all(this.#endings);
    await this.#inTurn(async () => {
      const { hasFailures, isBehind } = this.#looks;
      const isDone = this.#running.size === 0 && !hasFailures && !isBehind;
      if (isDone) this.#looks.save({ open: false });
    });
  }

  /** A look that belongs to no single result. Tells its findings at the machine, and with the next result. */
  async #later(command: string | null): Promise<void> {
    this.#keep(await this.#inTurn(() => this.#look(command)));
  }

  #keep(found: readonly AttentionItem[]): void {
    this.#telling.keep(found);
    this.#telling.say(found);
  }

  async #look(
    command: string | null,
    sinceMs = this.#earliest(),
  ): Promise<readonly AttentionItem[]> {
    return await this.#looks.look({ command, sinceMs, isBusy: this.#running.size > 0 });
  }

  #earliest(): number | undefined {
    return this.#running.size === 0
      ? undefined
      : Math.min(...[...this.#running.values()].map(({ sinceMs }) => sinceMs));
  }

  /** Looks again and again while a command runs in the background, because it may make things at any time. */
  #keepWatch(): void {
    this.#watch ??= setInterval(() => {
      const [oldest] = this.#running.values();
      if (oldest) return void aboutCall(oldest.call, () => this.#later(oldest.command));
      clearInterval(this.#watch);
      this.#watch = undefined;
    }, QUARANTINE_LIMITS.watchMs).unref();
  }

  async #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const before = this.#turn;
    const done = before.then(work, work);
    this.#turn = done.catch(() => {});
    return await done;
  }
}
