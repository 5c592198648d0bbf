/** Finds the editor of the workspace, stays connected to it, and finds it again after a restart. */
import { keepAlive } from '../../../../machine/keep-alive.ts';
import { logEvent } from '../../../../machine/log.ts';
import type { Candidate, SearchPlace } from '../discovery/candidate.ts';
import { discover } from '../discovery/discover.ts';
import { hostsFor, placeHere } from '../discovery/place.ts';
import { EditorAsker } from './asker.ts';
import type { Companion } from './companion.ts';
import { isConfirmed, isSameCompanion } from './confirmed.ts';
import { connectFirst, type FoundCompanions, prefer } from './finding.ts';
import { LINK_LIMITS, type LinkLimits } from './limits.ts';
import type { EditorDiagnostic, EditorNews, OpenFile } from './wire.ts';

/** What an editor's word about trust is told to. It stays until a person takes it back. */
export interface DistrustNote {
  readonly isKept: boolean;
  /** Any editor may say so, also one that is not confirmed: it only tightens. */
  keep(): void;
  /** Only for a person's word, in a confirmed editor. */
  lift(): void;
}

export interface LinkPlace {
  readonly search: (signal: AbortSignal) => Promise<FoundCompanions>;
  /** Whether the owner has confirmed the companion. Asked anew each time. */
  readonly isConfirmed: (companion: Candidate) => Promise<boolean>;
  readonly distrust: DistrustNote;
  /** Called after each change of what a confirmed editor shows; with undefined when it has gone. */
  readonly onView?: (view: EditorView | undefined) => void;
  readonly limits?: LinkLimits;
}

/** The link of a bridge on this machine. `workspace` is absolute. */
export function linkHere(
  workspace: string,
  {
    stateDir,
    environment,
    distrust,
  }: { readonly stateDir: string } & Pick<SearchPlace, 'environment'> & Pick<LinkPlace, 'distrust'>,
  onView: (view: EditorView | undefined) => void,
): EditorLink {
  let place: SearchPlace | undefined;
  return new EditorLink({
    search: async (signal) => {
      place ??= await placeHere(workspace, environment, signal);
      const [{ ranked }, hosts] = await Promise.all([
        discover(place, signal),
        hostsFor(place, signal),
      ]);
      return { ranked, hosts };
    },
    isConfirmed: (companion) => isConfirmed(stateDir, companion),
    distrust,
    onView,
  });
}

function logLost(name: string, reason: string): void {
  logEvent({ event: 'editor_lost', message: `Lost the editor ${name}: ${reason}.` });
}

function logMisread(problem: string): void {
  const message = `The editor sent what it should not, which is left out: ${problem}`;
  logEvent({ event: 'editor_misread', message });
}

/** What the editor shows, as it said last. */
export interface EditorView {
  readonly name: string;
  readonly openFiles: readonly OpenFile[];
}

interface HeardContext {
  readonly from: Candidate;
  readonly openFiles: readonly OpenFile[] | undefined;
  readonly isTrusted: boolean | undefined;
}

/** One connection for the whole bridge. Works in the background from its construction to {@link end}. */
export class EditorLink {
  /** Asks in the editor while one is connected. */
  readonly asker: EditorAsker;
  readonly #place: LinkPlace;
  readonly #limits: LinkLimits;
  readonly #ended = new AbortController();
  readonly #life: Promise<void>;
  #companion: Companion | undefined;
  /** The newest context, perhaps of a companion that is only tried. */
  #heard: HeardContext | undefined;
  /** Ports whose last connection ended soon: others are tried before them. */
  readonly #unsteady = new Set<number>();
  /** Problems with news of this companion that the log has. */
  readonly #logged = new Set<string>();

  constructor(place: LinkPlace) {
    this.#place = place;
    this.#limits = place.limits ?? LINK_LIMITS;
    this.asker = new EditorAsker({
      limits: this.#limits,
      isConfirmed: place.isConfirmed,
      onUnconfirmed: () => void this.#preferConfirmed(),
    });
    this.#life = this.#live();
  }

  /** Undefined without an editor, and while the editor has not said which files it has open. */
  get view(): EditorView | undefined {
    const [companion, heard] = [this.#companion, this.#heard];
    if (companion === undefined || heard?.from !== companion.candidate) return undefined;
    return heard.openFiles && { name: companion.name, openFiles: heard.openFiles };
  }

  /** Whether an editor is connected that may report errors, confirmed or not. */
  get canDiagnose(): boolean {
    return this.#companion?.canDiagnose ?? false;
  }

  /**
   * The errors and warnings that the editor knows of these files. Undefined without a confirmed editor that answers
   * in time: the question names files, which not every process needs to learn. Never rejects.
   */
  async diagnose(
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<EditorDiagnostic[] | undefined> {
    const companion = this.#companion;
    if (!companion?.canDiagnose) return undefined;
    if (!(await this.#place.isConfirmed(companion.candidate))) return undefined;
    return await companion.diagnose(paths, signal);
  }

  /** Call it after the open questions were withdrawn: their diffs are closed first. */
  async end(): Promise<void> {
    await this.asker.end();
    this.#ended.abort();
    await this.#life;
  }

  async #live(): Promise<void> {
    const { retryMs, maxRetryMs } = this.#limits;
    let failures = 0;
    await keepAlive(async () => {
      const companion = await this.#find();
      const wasSteady = companion !== undefined && (await this.#serve(companion));
      failures = wasSteady ? 0 : failures + 1;
      // An editor that only restarts is looked for at once.
      return wasSteady ? 0 : Math.min(retryMs * 2 ** (failures - 1), maxRetryMs);
    }, this.#ended.signal);
  }

  /** The best companion that answers. Never rejects. */
  async #find(): Promise<Companion | undefined> {
    const { signal } = this.#ended;
    try {
      return await connectFirst(await this.#search(), {
        limits: this.#limits,
        signal,
        onNews: (candidate, news) => this.#take(candidate, news),
      });
    } catch {
      return undefined; // A disk that hangs, or the end of the bridge. `drawbridge ide` says why nothing is found.
    }
  }

  async #search(): Promise<FoundCompanions> {
    const { ranked, hosts } = await this.#place.search(this.#ended.signal);
    const isUnsteady = ({ port }: Candidate) => this.#unsteady.has(port);
    return { ranked: await prefer(ranked, this.#place.isConfirmed, isUnsteady), hosts };
  }

  /** Leaves an editor that is not confirmed for one that is: of several windows the owner has chosen that one. */
  async #preferConfirmed(): Promise<void> {
    const companion = this.#companion;
    const found = await this.#search().catch(() => undefined);
    const best = found?.ranked[0];
    if (best === undefined || companion === undefined) return;
    if (isSameCompanion(best, companion.candidate)) return;
    if (await this.#place.isConfirmed(best)) companion.end('another one was confirmed');
  }

  /** Resolves when the connection is over, with whether it held long enough to be a good one. */
  async #serve(companion: Companion): Promise<boolean> {
    const startedMs = performance.now();
    const end = () => companion.end('the bridge is ending');
    this.#ended.signal.addEventListener('abort', end, { once: true });
    if (this.#ended.signal.aborted) end();
    this.#companion = companion;
    void this.#heed();
    await this.#logConnected(companion);
    this.asker.attach(companion);
    void this.#share();
    const reason = await companion.ended;
    this.asker.detach();
    this.#ended.signal.removeEventListener('abort', end);
    this.#companion = undefined;
    this.#heard = undefined;
    this.#logged.clear();
    this.#place.onView?.(undefined);
    if (!this.#ended.signal.aborted) logLost(companion.name, reason);
    const wasSteady = performance.now() - startedMs > this.#limits.steadyMs;
    this.#unsteady[wasSteady ? 'delete' : 'add'](companion.candidate.port);
    return wasSteady;
  }

  async #logConnected({ name, candidate, canDiff }: Companion): Promise<void> {
    const { port, token } = candidate;
    const connected = `Connected to the editor ${name} (port ${port}).`;
    const log = (how: string) =>
      logEvent({ event: 'editor_connected', message: `${connected} ${how}` });
    if (!canDiff) return log('It cannot show edits.');
    if (await this.#place.isConfirmed(candidate))
      return log('It shows edits that wait for your approval.');
    if (token === undefined)
      return log('It has no token, so your answers there cannot count: update its extension.');
    log(`Your answers there count after: \`drawbridge ide confirm --port ${port}\``);
  }

  /** A companion that is only tried has no say about trust. Never rejects. */
  async #heed(): Promise<void> {
    const { distrust, isConfirmed } = this.#place;
    const heard = this.#heard;
    if (!heard || heard.from !== this.#companion?.candidate) return;
    if (heard.isTrusted === false) return distrust.keep();
    if (!heard.isTrusted || !distrust.isKept || !(await isConfirmed(heard.from))) return;
    if (this.#heard === heard) distrust.lift();
  }

  /** Any process can be an editor, so that only a confirmed one speaks to others. Never rejects. */
  async #share(): Promise<void> {
    const companion = this.#companion;
    if (companion === undefined || !(await this.#place.isConfirmed(companion.candidate))) return;
    if (companion === this.#companion) this.#place.onView?.(this.view);
  }

  #take(from: Candidate, news: EditorNews): void {
    switch (news.type) {
      case 'context': {
        const before = this.#heard?.from === from ? this.#heard : undefined;
        const openFiles = news.openFiles ?? before?.openFiles;
        this.#heard = { from, openFiles, isTrusted: news.isTrusted ?? before?.isTrusted };
        void this.#heed();
        return void this.#share();
      }
      case 'diff':
        return this.asker.decide(from, news);
      case 'invalid':
        if (this.#logged.has(news.problem) || this.#logged.size >= this.#limits.maxLoggedProblems)
          return;
        this.#logged.add(news.problem);
        return logMisread(news.problem);
      default:
        news satisfies never;
    }
  }
}
