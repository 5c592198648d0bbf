/** Looks, before each command, for what the names in a workspace do not show: ignored entries, links, odd folders. */

import { type BytePath, fromText, toText } from '../../../machine/byte-path.ts';
import {
  type ClosedEntries,
  type ClosedEntry,
  closureOf,
  FOLDER_LIMITS,
  WorkspaceScan,
  withLinkedPlaces,
} from '../../workspace/index.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
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

/** The present entries, for a command that begins now. */
export interface ClosedNow extends ClosedAbout {
  readonly protected: readonly string[];
  readonly secret: readonly string[];
}

/** The caller makes one call at a time. */
export class ClosedLook {
  readonly #workspace: BytePath;
  readonly #scan: WorkspaceScan;
  /** Places that only a link or a setting closes, from the look before any command ran. */
  #led: readonly ClosedEntry[] = [];

  private constructor(workspace: string, standsFor: string, readable: readonly string[]) {
    this.#workspace = fromText(workspace);
    const opened = new Set(readable.map(fromText));
    const ignoring = [...new Set([workspace, standsFor])].map(fromText);
    this.#scan = new WorkspaceScan(this.#workspace, { ignoring, opened });
  }

  /** `standsFor` and `readable` as in the surroundings. `reason` is a sentence on why no command can be confined here. */
  static async open(
    workspace: string,
    standsFor: string,
    readable: readonly string[],
  ): Promise<
    { readonly ok: true; readonly look: ClosedLook } | { readonly ok: false; reason: string }
  > {
    const look = new ClosedLook(workspace, standsFor, readable);
    const found = await look.#look(FOLDER_LIMITS.firstScanMs);
    if (found.isCut) return { ok: false, reason: TOO_LARGE };
    if (found.odd) {
      const reason = `${oddProblem(found.odd)}, so a person must allow each command: make it a regular file.`;
      return { ok: false, reason };
    }
    const known = new Set(found.entries.map(({ path }) => path));
    const all = await withLinkedPlaces(found, look.#workspace);
    look.#led = all.filter(({ path, isLed }) => isLed || !known.has(path));
    const others = all.filter((entry) => entry.kind !== 'link' && !isNamed(entry));
    if (others.length > SANDBOX_LIMITS.maxFirstMounts) return { ok: false, reason: TOO_MANY };
    return others.every(isSayable) ? { ok: true, look } : { ok: false, reason: UNSAYABLE };
  }

  /** Throws a ToolFailure where it is unknown what is closed. */
  async now(kind: BaseKind): Promise<ClosedNow> {
    const found = await this.#look(FOLDER_LIMITS.scanMs);
    assertPlain(found);
    const places = [...this.#led, ...found.entries];
    // By a rule about a link, a command could close any place of the disk to later ones. A pattern holds the link's name.
    const present = places.filter((entry) => entry.kind !== 'link');
    const others = present.filter((entry) => !isNamed(entry));
    // Those that patterns close as well come last: a rule for each also keeps the folders around it in place.
    const ordered = [...others, ...present.filter(isNamed)].filter(isSayable);
    const closed = entriesOf(kind, ordered.slice(0, SANDBOX_LIMITS.maxMounts));
    const pathsOf = (closure: ClosedEntry['closure']) =>
      closed.filter((entry) => entry.closure === closure).map(({ path }) => toText(path));
    const { length } = others;
    const isUncovered =
      found.isCut || length > SANDBOX_LIMITS.maxMounts || !others.every(isSayable);
    return {
      ...describeClosed(this.#workspace, { places, closed, isUncovered }),
      protected: pathsOf('protected'),
      secret: pathsOf('secret'),
    };
  }

  async #look(limitMs: number): Promise<ClosedEntries> {
    const found = await this.#scan.look(limitMs);
    const { length } = found.entries.filter((entry) => !isNamed(entry));
    const isFitting = length <= SANDBOX_LIMITS.maxFirstMounts;
    return isFitting || !this.#scan.coarsen() ? found : await this.#scan.look(limitMs);
  }
}

/** Whether a rule can name the path: nothing says how a profile writes control characters. */
function isSayable({ path }: ClosedEntry): boolean {
  return path.length <= SANDBOX_LIMITS.maxRulePathBytes && !/\p{Cc}/u.test(toText(path));
}

const UNSAYABLE =
  'The workspace has a closed path that no rule of the sandbox can name, because it is too long or has a control ' +
  'character, so a person must allow each command: give it another name.';

/** Whether the entry's own name closes it. */
function isNamed({ path, closure }: ClosedEntry): boolean {
  return closureOf(toText(path.slice(path.lastIndexOf('/') + 1))) === closure;
}
