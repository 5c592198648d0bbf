/** Looks for new protected things in a workspace, and stores the known ones on disk. */
import { posix } from 'node:path';
import { type BytePath, fromText, isBelow, shownName } from '../../../machine/byte-path.ts';
import { ToolFailure } from '../../../machine/failure.ts';
import { currentCall, logTrouble } from '../../../machine/log.ts';
import type { AttentionItem } from '../../../shared/wire/attention.ts';
import { DotNames } from './dot-names.ts';
import { findGitTools, type GitTools } from './git-folder.ts';
import { HeldFolder } from './held-folder.ts';
import { InstallScripts } from './install-scripts.ts';
import { type VouchedFile, writeKnown } from './known.ts';
import { QUARANTINE_LIMITS } from './limits.ts';
import type { ListProtected, ProtectedThing, WorkspaceListing } from './listing.ts';
import { type PuttingAway, reasonOf } from './put-away.ts';
import { settle } from './settling.ts';
import { QuarantineRecord, quarantineFolder } from './store.ts';

export interface LooksConfig {
  /** Absolute and real. */
  readonly workspace: string;
  readonly stateDir: string;
  readonly listProtected: ListProtected;
}

export interface QuarantineLook {
  /** The command that ran before this look; null where none is known. */
  readonly command: string | null;
  /** Install scripts count that changed since this moment; undefined where none count. */
  readonly sinceMs: number | undefined;
  /** Whether commands are running: one could undo a cleaning. */
  readonly isBusy: boolean;
}

/** For one workspace. The caller makes one call at a time. */
export class Looks {
  readonly #config: LooksConfig;
  readonly #workspace: BytePath;
  readonly #tools: GitTools;
  readonly #scripts: InstallScripts;
  readonly #dotNames: DotNames;
  /** Names by identity. */
  #known = new Map<string, string>();
  /** Things that were found and could not be put away. Each look tries again, and they never become known. */
  readonly #failed = new Set<string>();
  #isBehind = false;
  #written = '';

  /** `before` is what an earlier process stored. Its entries count where it has never closed the file. */
  static async open(config: LooksConfig, before: VouchedFile | undefined): Promise<Looks> {
    const dotNames = await DotNames.open(fromText(config.workspace), before?.dotNames);
    const looks = new Looks(config, await findGitTools(), dotNames);
    if (before?.open) looks.#known = new Map(Object.entries(before.entries));
    return looks;
  }

  private constructor(config: LooksConfig, tools: GitTools, dotNames: DotNames) {
    this.#config = config;
    this.#workspace = fromText(config.workspace);
    this.#tools = tools;
    this.#dotNames = dotNames;
    this.#scripts = new InstallScripts(this.#workspace);
  }

  isKnown(identity: string): boolean {
    return this.#known.has(identity);
  }

  /** Whether things that should have been put away are still in place. */
  get hasFailures(): boolean {
    return this.#failed.size > 0;
  }

  /** Whether the last look failed. Then a command may still have made the new things. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Takes everything that is there for the person's, except failed things. */
  async learn(): Promise<void> {
    const { things, manifests } = await this.#config.listProtected();
    await this.#scripts.news(manifests, Number.POSITIVE_INFINITY);
    await this.#dotNames.learn();
    const theirs = things.filter(({ identity }) => !this.#failed.has(identity));
    this.#known = new Map(theirs.map((thing) => [thing.identity, this.#nameOf(thing)]));
  }

  /** Reports new names with a dot that a call of a file tool has made. Never rejects: the files are written. */
  async made(names: readonly string[]): Promise<readonly AttentionItem[]> {
    try {
      return await this.#dotNames.made(names.map(fromText));
    } catch (error) {
      logTrouble({ event: 'quarantine_failed', ...currentCall() }, NOT_SEARCHED, error);
      return [];
    }
  }

  /** Never rejects: the result of a command must not be lost to a failed look, and a later look follows. */
  async look(look: QuarantineLook): Promise<readonly AttentionItem[]> {
    try {
      this.#isBehind = true;
      const found = await this.#look(look);
      this.#isBehind = false;
      this.save({ open: true });
      return found;
    } catch (error) {
      logTrouble({ event: 'quarantine_failed', ...currentCall() }, NOT_SEARCHED, error);
      const failure = 'the bridge could not search it; its log says why';
      return [{ name: 'The workspace', quarantined: false, what: [], failure }];
    }
  }

  /** `open`: commands may still make things. Throws a ToolFailure when the file cannot be written. */
  save({ open }: { open: boolean }): void {
    const entries = Object.fromEntries(this.#known);
    const known = { version: 1, open, entries, dotNames: this.#dotNames.seen } as const;
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

  /** Puts away or reports everything that is new since the last look. */
  async #look({ command, sinceMs, isBusy }: QuarantineLook): Promise<AttentionItem[]> {
    const items: AttentionItem[] = [];
    const { things, manifests } = await this.#listSearchable(items, { command, isBusy });
    this.#forgetGone(things);
    const fresh = things.filter(({ identity }) => !this.#known.has(identity));
    const putting = this.#puttingOf(things, { command, isBusy, fresh: fresh.length });
    const made = fresh.filter(({ isLed }) => !isLed).map(({ path }) => path);
    for (const thing of fresh.filter(({ isUnreadable }) => !isUnreadable)) {
      const isPartOf = (path: BytePath) => path === thing.path || isBelow(path, thing.path);
      if (thing.isLed && made.some(isPartOf)) this.#known.set(thing.identity, this.#nameOf(thing));
      else items.push(...(await this.#handle(thing, putting)));
    }
    items.push(...(await this.#dotNames.news(items)));
    if (sinceMs === undefined) return items;
    const scripts = await this.#scripts.news(manifests, sinceMs);
    return [
      ...items,
      ...scripts.map((news) => ({ ...news, what: [...news.what], quarantined: false })),
    ];
  }

  /**
   * Opens the folders that a command has closed by their mode, and puts away those that are too deep or too full to be
   * searched: nothing shows what they hold.
   */
  async #listSearchable(
    items: AttentionItem[],
    look: Pick<QuarantineLook, 'command' | 'isBusy'>,
  ): Promise<WorkspaceListing> {
    for (let depth = 0; ; depth++) {
      const listed = await this.#config.listProtected();
      const { things } = listed;
      const hiding = things.filter(
        ({ identity, isUnreadable, isUnsearched }) =>
          (isUnreadable || isUnsearched) && !this.#known.has(identity),
      );
      const fresh = hiding.filter(({ identity }) => !this.#failed.has(identity));
      if (fresh.length === 0 || depth === QUARANTINE_LIMITS.maxDepth) return listed;
      const putting = this.#puttingOf(things, { ...look, fresh: fresh.length });
      // Nested closed folders list the same folder twice.
      for (const thing of new Map(fresh.map((each) => [each.identity, each])).values()) {
        if (thing.isUnsearched) items.push(...(await this.#handle(thing, putting)));
        else items.push(...(await this.#open(thing)));
      }
    }
  }

  async #open(thing: ProtectedThing): Promise<AttentionItem[]> {
    const { path, identity } = thing;
    const item = { name: this.#nameOf(thing), quarantined: false };
    try {
      await using folder = await HeldFolder.open(posix.dirname(path));
      await folder.makeOurs(posix.basename(path));
      return [{ ...item, what: OPENED }];
    } catch (error) {
      this.#failed.add(identity);
      return [{ ...item, what: [], failure: reasonOf(error) }];
    }
  }

  #puttingOf(
    things: readonly ProtectedThing[],
    {
      command,
      isBusy,
      fresh,
    }: Pick<QuarantineLook, 'command' | 'isBusy'> & { readonly fresh: number },
  ): PuttingAway {
    const { workspace, stateDir } = this.#config;
    const paths = things.map(({ path }) => path);
    const isFlood = fresh > QUARANTINE_LIMITS.maxRepositories;
    return {
      record: new QuarantineRecord(quarantineFolder(stateDir), { workspace, command }),
      tools: this.#tools,
      workspace: this.#workspace,
      repositories: new Set(paths.filter((path) => posix.basename(path) === '.git')),
      isFlood,
      mayClean: !isBusy && !isFlood,
    };
  }

  #forgetGone(things: readonly ProtectedThing[]): void {
    const there = new Set(things.map(({ identity }) => identity));
    for (const identity of this.#failed) if (!there.has(identity)) this.#failed.delete(identity);
  }

  async #handle(thing: ProtectedThing, putting: PuttingAway): Promise<AttentionItem[]> {
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
        // A failure is reported once, and every look tries again.
        return hadFailed ? [] : [{ name, quarantined: false, what: [], failure: outcome.reason }];
      default:
        return outcome satisfies never;
    }
  }

  #nameOf({ path }: ProtectedThing): string {
    return shownName(posix.relative(this.#workspace, path));
  }
}

const NOT_SEARCHED = 'The workspace could not be searched for new repositories';
const OPENED = ['a command had closed it, and the bridge opened it to look into it'];
const CONFIGURES = ['git, an editor, an agent or a shell may start programs by it'];
