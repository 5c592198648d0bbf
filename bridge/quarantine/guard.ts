/** Watches what commands leave behind in a workspace, so that none of it waits for the person's own programs. */
import { lstat } from 'node:fs/promises';
import { posix } from 'node:path';
import { isSystemError } from '../../machine/system-error.ts';
import { type AttentionItem, attentionSentence } from '../../shared/attention.ts';
import { QUARANTINE_LIMITS } from '../../shared/limits.ts';
import { ToolFailure } from '../failure.ts';
import { logTrouble } from '../log.ts';
import { type BytePath, fromText, shownName } from '../sandbox/byte-path.ts';
import { identityOf } from '../sandbox/scan.ts';
import { boundedWhat, findGitTools, type GitTools } from './git-folder.ts';
import { HeldFolder } from './held-folder.ts';
import { InstallScripts } from './install-scripts.ts';
import { readKnown, writeKnown } from './known.ts';
import type { ListProtected, ProtectedThing } from './listing.ts';
import type { Spot } from './moving.ts';
import {
  cleanRepository,
  type PutAway,
  type PuttingAway,
  putAwayWhole,
  reasonOf,
} from './put-away.ts';
import { QuarantineRecord, quarantineFolder } from './store.ts';

export interface GuardConfig {
  /** Absolute and real. */
  readonly workspace: string;
  readonly stateDir: string;
  readonly listProtected: ListProtected;
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
  readonly #config: GuardConfig;
  readonly #workspace: BytePath;
  readonly #tools: GitTools;
  readonly #scripts: InstallScripts;
  /** When each began. */
  readonly #running = new Map<symbol, number>();
  /** Names by identity. */
  #known = new Map<string, string>();
  /** Found, and not put away: they are tried again, and never become known. */
  readonly #failed = new Set<string>();
  /** Whether the last look failed: then what is new may still be a command's. */
  #isBehind = false;
  /** Found where no result was at hand to tell of it. */
  #untold: AttentionItem[] = [];
  #written = '';
  /** Of commands whose calls have returned. */
  readonly #endings = new Set<Promise<void>>();
  #turn: Promise<unknown> = Promise.resolve();
  #watch: NodeJS.Timeout | undefined;

  /** Looks first for what the commands of a bridge made that was killed. Before any command, and before the sandbox. */
  static async open(config: GuardConfig): Promise<WorkspaceGuard> {
    const before = readKnown(config.stateDir);
    const guard = new WorkspaceGuard(config, await findGitTools(config.workspace));
    await guard.#scripts.news(Number.POSITIVE_INFINITY);
    if (before?.open === true) {
      guard.#known = new Map(Object.entries(before.entries));
      await guard.#later(null);
    }
    return guard;
  }

  private constructor(config: GuardConfig, tools: GitTools) {
    this.#config = config;
    this.#workspace = fromText(config.workspace);
    this.#tools = tools;
    this.#scripts = new InstallScripts(this.#workspace);
  }

  /**
   * To be called before the command is prepared: what the sandbox protects is then known, or will be looked at. When it
   * returns, what is known is on disk.
   */
  async begins(command: string): Promise<GuardedCommand> {
    const token = Symbol(command);
    await this.#inTurn(async () => {
      const isAlone = this.#running.size === 0;
      const isTheirs = isAlone && !this.#isBehind;
      if (isTheirs) await this.#learn();
      if (!isTheirs || this.#failed.size > 0) {
        this.#untold.push(...(await this.#lookSafely(command)));
      }
      this.#save({ open: true });
      this.#running.set(token, Date.now());
    });
    const end = async () =>
      await this.#inTurn(async () => {
        const since = this.#running.get(token);
        this.#running.delete(token);
        return await this.#lookSafely(command, since);
      });
    return {
      ended: async () => this.#told(await end()),
      leaves: async (ended) => {
        this.#keepWatch();
        const ending = ended.then(end).then((found) => this.#keep(found));
        this.#endings.add(ending);
        void ending.finally(() => this.#endings.delete(ending));
        return this.#told(await this.#inTurn(() => this.#lookSafely(command)));
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
      const stats = await lstat(`${this.#config.workspace}/${name}`, { bigint: true });
      return !this.#known.has(identityOf(stats));
    } catch (error) {
      if (isSystemError(error, 'ENOENT')) return false;
      throw error;
    }
  }

  /** What was found goes with the next result again: the one that it went with is not shown. */
  tellAgain(items: readonly AttentionItem[]): void {
    this.#untold.push(...items);
  }

  /** Called when all commands have ended: what comes from now on is the person's. */
  async close(): Promise<void> {
    clearInterval(this.#watch);
    await Promise.all(this.#endings);
    await this.#inTurn(async () => {
      const isDone = this.#running.size === 0 && this.#failed.size === 0 && !this.#isBehind;
      if (isDone) this.#save({ open: false });
    });
  }

  /** Everything there is the person's, but what should have been put away. */
  async #learn(): Promise<void> {
    const things = await this.#config.listProtected();
    const theirs = things.filter(({ identity }) => !this.#failed.has(identity));
    this.#known = new Map(theirs.map((thing) => [thing.identity, this.#nameOf(thing)]));
  }

  /** A look outside of a command's own: tells what it finds at the machine, and with the next result. */
  async #later(command: string | null): Promise<void> {
    this.#keep(await this.#inTurn(() => this.#lookSafely(command)));
  }

  #keep(found: readonly AttentionItem[]): void {
    this.#untold.push(...found);
    this.#say(found);
  }

  /** The result of a command must not be lost over it; it will be looked again. */
  async #lookSafely(command: string | null, since?: number): Promise<readonly AttentionItem[]> {
    try {
      this.#isBehind = true;
      const found = await this.#look(command, since);
      this.#isBehind = false;
      this.#save({ open: true });
      return found;
    } catch (error) {
      logTrouble('The workspace could not be looked through for new repositories', error);
      const failure = 'the bridge could not look through it, its log says why';
      return [{ name: 'The workspace', quarantined: false, what: [], failure }];
    }
  }

  /** Puts away or tells what is new since the last look. */
  async #look(command: string | null, since = this.#earliest()): Promise<AttentionItem[]> {
    const things = await this.#config.listProtected();
    this.#forgetGone(things);
    const fresh = things.filter(({ identity }) => !this.#known.has(identity));
    const repositories = new Set(
      things.map(({ path }) => path).filter((path) => posix.basename(path) === '.git'),
    );
    const { workspace, stateDir } = this.#config;
    const isFlood = fresh.length > QUARANTINE_LIMITS.maxRepositories;
    const putting: Putting = {
      record: new QuarantineRecord(quarantineFolder(stateDir), { workspace, command }),
      tools: this.#tools,
      workspace: this.#workspace,
      repositories,
      isFlood,
      // A command that is still there could change anything back.
      mayClean: this.#running.size === 0 && !isFlood,
    };
    const items: AttentionItem[] = [];
    for (const thing of fresh) items.push(...(await this.#handle(thing, putting)));
    if (since === undefined) return items;
    const scripts = await this.#scripts.news(since);
    return [
      ...items,
      ...scripts.map((news) => ({ ...news, what: [...news.what], quarantined: false })),
    ];
  }

  #forgetGone(things: readonly ProtectedThing[]): void {
    const there = new Set(things.map(({ identity }) => identity));
    for (const identity of this.#failed) if (!there.has(identity)) this.#failed.delete(identity);
  }

  async #handle(thing: ProtectedThing, putting: Putting): Promise<AttentionItem[]> {
    const name = this.#nameOf(thing);
    const { identity, outcome } = await settle(thing, putting, this.#known);
    const hadFailed = this.#failed.delete(identity);
    switch (outcome.state) {
      case 'gone':
        return [];
      case 'harmless':
      case 'configures':
        this.#known.set(identity, name);
        return [{ name, quarantined: false, what: outcome.state === 'harmless' ? [] : CONFIGURES }];
      case 'quarantined':
        if (outcome.remains) this.#known.set(identity, name);
        return [{ name, quarantined: true, what: [...outcome.what] }];
      case 'failed':
        this.#failed.add(identity);
        // Told once, tried each time.
        return hadFailed ? [] : [{ name, quarantined: false, what: [], failure: outcome.reason }];
      default:
        return outcome satisfies never;
    }
  }

  #earliest(): number | undefined {
    return this.#running.size === 0 ? undefined : Math.min(...this.#running.values());
  }

  #told(found: readonly AttentionItem[]): readonly AttentionItem[] {
    this.#say(found);
    const all = [...this.#untold, ...found];
    this.#untold = [];
    return bounded(all);
  }

  #say(found: readonly AttentionItem[]): void {
    for (const item of bounded(found)) this.#config.tell(attentionSentence(item));
  }

  #save({ open }: { open: boolean }): void {
    const known = { version: 1, open, entries: Object.fromEntries(this.#known) } as const;
    const text = JSON.stringify(known);
    if (text === this.#written) return;
    try {
      writeKnown(this.#config.stateDir, known);
    } catch (cause) {
      throw new ToolFailure(
        'STATE_NOT_WRITABLE',
        'The bridge cannot write to its state folder, so no command runs: ask the person to look at its log.',
        { cause },
      );
    }
    this.#written = text;
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

  #nameOf({ path }: ProtectedThing): string {
    return shownName(posix.relative(this.#workspace, path));
  }

  async #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const before = this.#turn;
    const done = before.then(work, work);
    this.#turn = done.catch(() => {});
    return await done;
  }
}

interface Putting extends PuttingAway {
  /** Whether a repository may stay with what is harmless of it. */
  readonly mayClean: boolean;
}

type Outcome =
  | Exclude<PutAway, { state: 'quarantined' }>
  | { readonly state: 'gone' }
  /** It stays, and programs obey it. */
  | { readonly state: 'configures' }
  /** `remains`: the rest of it is still there. */
  | { readonly state: 'quarantined'; readonly what: readonly string[]; readonly remains: boolean };

/** Deals with what is at the place now: a command at work may have put another thing there since the listing. */
async function settle(
  { path, identity: listed }: ProtectedThing,
  putting: Putting,
  known: ReadonlyMap<string, string>,
): Promise<{ identity: string; outcome: Outcome }> {
  let identity = listed;
  try {
    await using folder = await HeldFolder.open(posix.dirname(path));
    const spot = { folder, name: posix.basename(path) };
    identity = identityOf(await folder.stat(spot.name));
    if (known.has(identity)) return { identity, outcome: { state: 'gone' } };
    return { identity, outcome: await settleSpot(spot, identity, putting) };
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return { identity, outcome: { state: 'gone' } };
    return { identity, outcome: { state: 'failed', reason: reasonOf(error) } };
  }
}

async function settleSpot(spot: Spot, identity: string, putting: Putting): Promise<Outcome> {
  const { folder, name } = spot;
  if (await isNamed(spot, '.drawbridge')) return withRest(await putAwayWhole(spot, putting), false);
  if (!(await isNamed(spot, '.git'))) return { state: 'configures' };
  const outcome = await (putting.mayClean ? cleanRepository : putAwayWhole)(spot, putting);
  const remains = (await folder.has(name)) && identityOf(await folder.stat(name)) === identity;
  return withRest(outcome, remains);
}

function withRest(outcome: PutAway, remains: boolean): Outcome {
  return outcome.state === 'quarantined' ? { ...outcome, remains } : outcome;
}

/** Where case does not count, `.GIT` is `.git`. */
async function isNamed({ folder, name }: Spot, wanted: string): Promise<boolean> {
  if (name === wanted) return true;
  if (!(await folder.has(wanted))) return false;
  return identityOf(await folder.stat(wanted)) === identityOf(await folder.stat(name));
}

const CONFIGURES = ['git, an editor, an agent or a shell may start programs by it'];

/** A command can make any number. All are handled; the first are named. */
function bounded(items: readonly AttentionItem[]): readonly AttentionItem[] {
  const { maxTold } = QUARANTINE_LIMITS;
  const shown = items.slice(0, maxTold).map((item) => ({ ...item, what: boundedWhat(item.what) }));
  const others = items.slice(maxTold);
  if (others.length === 0) return shown;
  const quarantined = others.every((item) => item.quarantined);
  return [...shown, { name: `${others.length} more`, quarantined, what: ['of the same kind'] }];
}
