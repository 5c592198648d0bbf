/** Watches what commands leave behind in a workspace, so that none of it waits for the person's own programs. */
import { lstat } from 'node:fs/promises';
import { isSystemError } from '../../machine/system-error.ts';
import type { AttentionItem } from '../../shared/attention.ts';
import { identityOf } from '../sandbox/scan.ts';
import { readKnown } from './known.ts';
import { QUARANTINE_LIMITS } from './limits.ts';
import { Looks, type LooksConfig } from './looks.ts';
import { Telling } from './telling.ts';

export interface GuardConfig extends LooksConfig {
  /** Takes one line for the person at the machine. */
  readonly tell: (line: string) => void;
}

/** A command of the sandbox, from before it is prepared. */
export interface GuardedCommand {
  /** All of its processes are gone: what it made. */
  readonly ended: () => Promise<readonly AttentionItem[]>;
  /**
   * Its call returns while it runs on: what it made so far. What it makes until `end` settles is told at the machine,
   * and with the result of a later call.
   */
  readonly leaves: (end: Promise<unknown>) => Promise<readonly AttentionItem[]>;
}

/**
 * The guard of one workspace. What comes into being while a command runs counts as made by a command; what comes while
 * none does is the person's. Looks are made one after the other.
 */
export class WorkspaceGuard {
  readonly #workspace: string;
  readonly #looks: Looks;
  readonly #telling: Telling;
  /** When each began. */
  readonly #running = new Map<symbol, number>();
  /** Of commands whose calls have returned. */
  readonly #endings = new Set<Promise<void>>();
  #turn: Promise<unknown> = Promise.resolve();
  #watch: NodeJS.Timeout | undefined;

  /** Looks first for what the commands of a bridge made that was killed. Before any command, and before the sandbox. */
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
    this.#telling = new Telling(tell);
  }

  /**
   * To be called before the command is prepared: what the sandbox protects is then known, or will be looked at. When it
   * returns, what is known is on disk.
   */
  async begins(command: string): Promise<GuardedCommand> {
    const token = Symbol(command);
    await this.#inTurn(async () => {
      const isAlone = this.#running.size === 0;
      const isTheirs = isAlone && !this.#looks.isBehind;
      if (isTheirs) await this.#looks.learn();
      if (!isTheirs || this.#looks.hasFailures) {
        this.#telling.keep(await this.#look(command));
      }
      this.#looks.save({ open: true });
      this.#running.set(token, Date.now());
    });
    const end = async () =>
      await this.#inTurn(async () => {
        const since = this.#running.get(token);
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
   * Whether something of this name is in the workspace's own folder that a command may have made, and that waits for
   * the next look: it counts as not there.
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

  /** What was found goes with the next result again: the one that it went with is not shown. */
  tellAgain(items: readonly AttentionItem[]): void {
    this.#telling.keep(items);
  }

  /** Called when all commands have ended: what comes from now on is the person's. */
  async close(): Promise<void> {
    clearInterval(this.#watch);
    await Promise.all(this.#endings);
    await this.#inTurn(async () => {
      const { hasFailures, isBehind } = this.#looks;
      const isDone = this.#running.size === 0 && !hasFailures && !isBehind;
      if (isDone) this.#looks.save({ open: false });
    });
  }

  /** A look outside of a command's own: tells what it finds at the machine, and with the next result. */
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
    return this.#running.size === 0 ? undefined : Math.min(...this.#running.values());
  }

  /** While a command runs in the background it may make anything at any time. */
  #keepWatch(): void {
    this.#watch ??= setInterval(() => {
      const [oldest] = this.#running.keys();
      if (oldest) return void this.#later(oldest.description ?? null);
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
