/** Keeps the bases of one workspace up to date with the workspace's protected and secret paths. */

import { type BytePath, fromText, isBelow, toText } from '../../../machine/byte-path.ts';
import {
  type ClosedEntries,
  type ClosedEntry,
  FOLDER_LIMITS,
  WorkspaceScan,
  withLinkedPlaces,
} from '../../workspace/index.ts';
import { type CommandUser, otherRights } from '../account.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { Author } from '../view/git-author.ts';
import { KnownEntries } from '../view/known-entries.ts';
import type { FolderLink, Links } from '../view/links.ts';
import { Masks, type OwnFile, TrackedSecrets } from '../view/masks.ts';
import { closeEntries, mountable } from '../view/view.ts';
import { Base } from './base.ts';
import {
  assertPlain,
  type BaseKind,
  type ClosedAbout,
  describeClosed,
  entriesOf,
  oddProblem,
  TOO_LARGE,
  TOO_MANY,
} from './closed-about.ts';
import type { SandboxSurroundings } from './confinement.ts';
import { descendants, type Freeze, freezeDescendants, type Process } from './freeze.ts';
import { failed, releaseHeld } from './held-command.ts';
import type { Entry } from './holder.ts';

export interface BasesOptions {
  readonly workspace: string;
  readonly account: CommandUser;
  readonly file: string;
  /** The user namespace above all bases, where there is one. */
  readonly entry?: Entry | undefined;
  /** See systemView. */
  readonly view: readonly BytePath[];
  /** Added to the view of kind `git`. */
  readonly gitView: readonly BytePath[];
  readonly links: Links;
  readonly maskFolder: SandboxSurroundings['maskFolder'];
  readonly readAuthor: () => Promise<Author>;
  /** Absolute paths that the machine's owner opens: those of secrets in the workspace are not closed. */
  readonly readable: readonly string[];
  /** A folder for which the workspace stands, and whose ignore files hold here too. */
  readonly standsFor?: string | undefined;
}

/** A base that closes every known entry. */
export interface CurrentBase extends ClosedAbout {
  readonly base: Base;
}

/** The caller makes one call at a time. Every command that was started before counts as hostile. */
export class Bases implements Disposable {
  readonly #options: BasesOptions;
  readonly #workspace: BytePath;
  readonly #scan: WorkspaceScan;
  readonly #known: KnownEntries;
  readonly #tracked: TrackedSecrets;
  readonly #masks: Masks;
  #author: Author | undefined;
  readonly #bases = new Map<BaseKind, Made>();

  private constructor(options: BasesOptions, ignoring: readonly BytePath[]) {
    this.#options = options;
    this.#workspace = fromText(options.workspace);
    const rights = otherRights(options.account);
    this.#masks = new Masks(options.maskFolder);
    this.#tracked = new TrackedSecrets(
      (path) => isBelow(this.#workspace, path) || options.gitView.includes(path),
    );
    const opened = new Set(options.readable.map(fromText));
    this.#scan = new WorkspaceScan(this.#workspace, { rights, ignoring, opened });
    this.#known = new KnownEntries(this.#workspace, { rights, ignoring });
  }

  /** The caller opens this before the first command. `reason` is a sentence on why no command can be confined here. */
  static async open(
    options: BasesOptions,
  ): Promise<
    { readonly ok: true; readonly bases: Bases } | { readonly ok: false; reason: string }
  > {
    const { workspace, standsFor = workspace } = options;
    const ignoring = [...new Set([workspace, standsFor])].map(fromText);
    const bases = new Bases(options, ignoring);
    const look = bases.#look(FOLDER_LIMITS.firstScanMs);
    const [found] = await Promise.all([look, bases.#nameAuthor()]);
    bases.#known.remember(await withLinkedPlaces(found, bases.#workspace));
    const { hasOverflowed } = bases.#known;
    if (!found.isCut && !hasOverflowed && !found.odd) return { ok: true, bases };
    bases[Symbol.dispose]();
    const problem =
      found.odd &&
      `${oddProblem(found.odd)}, so a person must allow each command: make it a regular file.`;
    return { ok: false, reason: problem ?? (found.isCut ? TOO_LARGE : TOO_MANY) };
  }

  /** See {@link KnownEntries.nameless}. */
  get nameless(): readonly string[] {
    return this.#known.nameless().map(toText);
  }

  /** The links that the newest mounts show. */
  get shownLinks(): readonly FolderLink[] {
    return this.#options.links.shown;
  }

  /** Throws a ToolFailure when no base can be made. */
  async current(kind: BaseKind): Promise<CurrentBase> {
    if (kind === 'git') await this.#nameAuthor();
    const found = await this.#look(FOLDER_LIMITS.scanMs);
    assertPlain(found);
    const places = this.#known.places();
    const { base, reopenings } = this.#bases.get(kind) ?? {};
    const mounted = mountable(places);
    const masks = this.#masks.of(this.#tracked.look(mounted), mounted);
    const isCurrent =
      reopenings === this.#known.reopenings &&
      this.#known.covers(found.entries, places) &&
      base?.closes(entriesOf(kind, places), masks) === true;
    if (isCurrent) return { base, ...this.#about(kind, found, places) };
    return await this.#remake(kind);
  }

  /**
   * Starts a command with mounts of its own, where no base can be entered. All other commands are stopped while
   * bubblewrap makes the mounts, and the command waits inside until each mount has been checked. `start` gets the
   * mounts as arguments and spawns bubblewrap with them before it returns. The command that it runs must begin with
   * {@link HOLD}.
   */
  async startHeld<Result>(
    kind: BaseKind,
    start: (mounts: readonly BytePath[], about: ClosedAbout) => Result,
  ): Promise<Result> {
    if (kind === 'git') await this.#nameAuthor();
    const { thaw, awake } = await freeze();
    try {
      const found = await this.#look(FOLDER_LIMITS.scanMs);
      assertPlain(found);
      this.#known.remember(found.entries);
      const places = this.#known.places();
      const entries = mountable(entriesOf(kind, places));
      const { view, shown } = await this.#viewOf(kind).catch((cause: unknown) => {
        throw failed(cause);
      });
      const masks = this.#masks.of(this.#tracked.look(entries, { settle: true }), entries);
      const mounts = [...view, ...closeEntries(entries, masks)];
      const earlier = new Set(descendants().map(({ pid }) => pid));
      const result = start(mounts, this.#about(kind, found, places));
      const isOurs = ({ parent, pid }: Process) => parent === process.pid && !earlier.has(pid);
      const launched = descendants().find(isOurs)?.pid;
      if (launched === undefined) return result;
      await releaseHeld(launched, { entries, masks, shown }, awake).catch((error: unknown) => {
        end(awake());
        throw error;
      });
      return result;
    } finally {
      thaw();
    }
  }

  [Symbol.dispose](): void {
    for (const { base } of this.#bases.values()) base[Symbol.dispose]();
    this.#bases.clear();
    this.#known[Symbol.dispose]();
    this.#masks[Symbol.dispose]();
  }

  async #look(limitMs: number): Promise<ClosedEntries> {
    const found = await this.#scan.look(limitMs);
    const isFitting = found.entries.length <= SANDBOX_LIMITS.maxFirstMounts;
    return isFitting || !this.#scan.coarsen() ? found : await this.#scan.look(limitMs);
  }

  async #remake(kind: BaseKind): Promise<CurrentBase> {
    let failure: unknown;
    for (let attempt = 0; attempt < SANDBOX_LIMITS.baseAttempts; attempt++) {
      const { thaw, awake } = await freeze();
      try {
        const found = await this.#look(FOLDER_LIMITS.scanMs);
        this.#known.remember(found.entries);
        const places = this.#known.places();
        const { reopenings } = this.#known;
        const base = await this.#make(kind, places);
        const woken = awake();
        if (base !== undefined && woken.length === 0) {
          this.#bases.get(kind)?.base[Symbol.dispose]();
          this.#bases.set(kind, { base, reopenings });
          return { base, ...this.#about(kind, found, places) };
        }
        base?.[Symbol.dispose]();
        if (woken.length > 0) failure = new Error(AWAKE);
        // The first time can be chance, for example after the machine was asleep.
        if (attempt > 0) end(woken);
      } catch (error) {
        failure = error;
      } finally {
        thaw();
      }
    }
    throw failed(failure);
  }

  /** The person may have changed it since. Bases show the file as it is. */
  async #nameAuthor(): Promise<void> {
    this.#author = await this.#options.readAuthor();
    this.#showAuthor();
  }

  #showAuthor(): OwnFile[] {
    const settings = this.#ours('.gitconfig');
    return settings && this.#author ? [this.#masks.naming(this.#author, settings)] : [];
  }

  /** A place in the home folder that is ours to mount on: commands see nothing of the machine there. */
  #ours(name: string): BytePath | undefined {
    const { account, view } = this.#options;
    const path = fromText(`${account.home}/${name}`);
    const isShown = view.some((arg, index) => {
      const place = BIND.test(arg) ? view[index + 2] : undefined;
      return place !== undefined && (place === path || isBelow(place, path));
    });
    return isShown ? undefined : path;
  }

  async #make(kind: BaseKind, places: readonly ClosedEntry[]): Promise<Base | undefined> {
    const { account, file, entry } = this.#options;
    const { view, shown } = await this.#viewOf(kind);
    const mounted = mountable(places);
    const masks = this.#masks.of(this.#tracked.look(mounted, { settle: true }), mounted);
    const entries = entriesOf(kind, places);
    return await Base.make({ account, file, entry, view, shown, entries, masks });
  }

  /** The caller has stopped all commands. `shown` are files of ours in the view. */
  async #viewOf(
    kind: BaseKind,
  ): Promise<{ readonly view: readonly BytePath[]; readonly shown: readonly OwnFile[] }> {
    const { view, gitView, links } = this.#options;
    const ignored = this.#ours('.config/git/ignore');
    const places = this.#known.places();
    const ignoring = ignored ? this.#masks.ignoring(places, ignored) : [];
    const shown = [...this.#showAuthor(), ...ignoring];
    const ours = shown.flatMap(({ source, place }) => ['--ro-bind', source, place]);
    const linked = await links.mounts();
    return { view: [...view, ...ours, ...(kind === 'git' ? gitView : []), ...linked], shown };
  }

  #about(kind: BaseKind, { isCut }: ClosedEntries, places: readonly ClosedEntry[]): ClosedAbout {
    const isUncovered = isCut || this.#known.hasOverflowed;
    return describeClosed(this.#workspace, {
      places,
      closed: entriesOf(kind, places),
      isUncovered,
    });
  }
}

interface Made {
  readonly base: Base;
  /** See {@link KnownEntries.reopenings}: later ones are still closed in this base. */
  readonly reopenings: number;
}

async function freeze(): Promise<Freeze> {
  return await freezeDescendants().catch((cause: unknown) => {
    throw failed(cause);
  });
}

/** Kills these processes: no command can be started safely beside a process that does not stay stopped. */
function end(processes: readonly number[]): void {
  for (const pid of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has gone.
    }
  }
}

/** Bubblewrap's options for a mount, which a source and a place follow. */
const BIND = /^--(?:ro-|dev-)?bind(?:-try)?$/;

const AWAKE = 'a process of an earlier command does not stay stopped';
