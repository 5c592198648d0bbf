/** Watches what commands leave in a workspace, so that the person's own programs do not run any of it. */
import { lstat } from 'node:fs/promises';
import { Lanes } from '../../../machine/lanes.ts';
import { aboutCall, currentCall } from '../../../machine/log.ts';
import type { LogIds } from '../../../machine/log-line.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { attentionSentence } from '../../../shared/shown/attention.ts';
import type { AttentionItem } from '../../../shared/wire/attention.ts';
import { identityOf } from '../../workspace/index.ts';
import { boundedWhat } from './git-folder.ts';
import { readKnown } from './known.ts';
import { QUARANTINE_LIMITS } from './limits.ts';
import { Looks, type LooksConfig } from './looks.ts';

export interface GuardConfig extends LooksConfig {
  /** Shows one line to the person at the machine. */
  readonly report: (line: string) => void;
}

/** A command of the sandbox, from the moment before it is prepared. */
export interface GuardedCommand {
  /** Called when all of the command's processes have gone. Resolves with the things that the command made. */
  readonly ended: () => Promise<readonly AttentionItem[]>;
  /**
   * Called when the command's call returns while the command still runs. Resolves with the things made so far. Things
   * made until `end` settles are reported at the machine, and with the result of a later call.
   */
  readonly leaves: (end: Promise<unknown>) => Promise<readonly AttentionItem[]>;
}

/** Its text, when it began, and the call that it belongs to. */
interface CommandUnderWay {
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
  readonly #report: (line: string) => void;
  readonly #running = new Map<symbol, CommandUnderWay>();
  /** The ends of commands whose calls have returned. */
  readonly #endings = new Set<Promise<void>>();
  /** Findings that no result has shown yet. The person at the machine knows them, or learns of them with that result. */
  readonly #unreported: AttentionItem[] = [];
  readonly #lanes = new Lanes();
  #watch: NodeJS.Timeout | undefined;

  /**
   * Searches first for things that commands of a killed bridge made. Runs before any command and before the sandbox.
   */
  static async open(config: GuardConfig): Promise<WorkspaceGuard> {
    const before = readKnown(config.stateDir);
    const wasOpen = before?.open === true;
    const looks = await Looks.open(config, before);
    const guard = new WorkspaceGuard(config, looks);
    if (wasOpen) await guard.#later(null);
    return guard;
  }

  private constructor({ workspace, report }: GuardConfig, looks: Looks) {
    this.#workspace = workspace;
    this.#looks = looks;
    this.#report = report;
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
        this.#unreported.push(...(await this.#look(command)));
      }
      this.#looks.save({ open: true });
      this.#running.set(token, { command, sinceMs: Date.now(), call: currentCall() });
    });
    const end = async () =>
      await this.#inTurn(async () => {
        const since = this.#running.get(token)?.sinceMs;
        this.#running.delete(token);
        return await this.#look(command, since);
      });
    return {
      ended: async () => this.#resultOf(await end()),
      leaves: async (ended) => {
        this.#keepWatch();
        const ending = ended.then(end).then((found) => this.#reportLater(found));
        this.#endings.add(ending);
        void ending.finally(() => this.#endings.delete(ending));
        return this.#resultOf(await this.#inTurn(() => this.#look(command)));
      },
    };
  }

  /** Reports names with a dot at the top of the workspace that a call of a file tool has just made: each once, ever. */
  async noticed(names: readonly string[]): Promise<readonly AttentionItem[]> {
    const found = await this.#inTurn(() => this.#looks.made(names));
    this.#reportHere(found);
    return found;
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

  /** Adds these items to the next result again, because the result that has them is not shown. */
  reportAgain(items: readonly AttentionItem[]): void {
    this.#unreported.push(...items);
  }

  /** Called after the end of all commands. Everything that appears afterwards is the person's. */
  async close(): Promise<void> {
    clearInterval(this.#watch);
    await Promise.all(this.#endings);
    await this.#inTurn(async () => {
      const { hasFailures, isBehind } = this.#looks;
      const isDone = this.#running.size === 0 && !hasFailures && !isBehind;
      if (isDone) this.#looks.save({ open: false });
    });
  }

  /** A look that belongs to no single result. */
  async #later(command: string | null): Promise<void> {
    this.#reportLater(await this.#inTurn(() => this.#look(command)));
  }

  /** Reports the findings at the machine, and with the next result. */
  #reportLater(found: readonly AttentionItem[]): void {
    this.#unreported.push(...found);
    this.#reportHere(found);
  }

  /** Reports the findings at the machine, and returns them for a result, after those that no result has shown yet. */
  #resultOf(found: readonly AttentionItem[]): readonly AttentionItem[] {
    this.#reportHere(found);
    return bounded([...this.#unreported.splice(0), ...found]);
  }

  #reportHere(found: readonly AttentionItem[]): void {
    for (const item of bounded(found)) this.#report(attentionSentence(item));
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
    return await this.#lanes.run(['look'], work);
  }
}

/** A command can make any number of things. All are handled; of those after `maxReported` only some names are reported. */
function bounded(items: readonly AttentionItem[]): readonly AttentionItem[] {
  const { maxReported } = QUARANTINE_LIMITS;
  const shown = items
    .slice(0, maxReported)
    .map((item) => ({ ...item, what: boundedWhat(item.what) }));
  const others = items.slice(maxReported);
  if (others.length === 0) return shown;
  const quarantined = others.every((item) => item.quarantined);
  const what = boundedWhat(others.map(({ name }) => name));
  return [...shown, { name: `${others.length} more`, quarantined, what }];
}
