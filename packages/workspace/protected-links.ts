/** Knows the protected names that a person's links give to places of a workspace. */
import { fromText, isBelow, toText } from '../../machine/byte-path.ts';
import { type ProtectedLink, protectedLinks } from './closed/linked-places.ts';
import { type ClosedEntries, WorkspaceScan } from './closed/scan.ts';
import { FOLDER_LIMITS } from './limits.ts';

/** Of one workspace. Its first look reads all folders, each later one those that changed. */
export class ProtectedLinks {
  readonly #root: string;
  #scan: WorkspaceScan | undefined;
  #looking: Promise<LinkLook | undefined> = Promise.resolve(undefined);

  constructor(root: string) {
    this.#root = root;
  }

  /** The further names of a real path, relative to the workspace, by which programs find it now. */
  async namesOf(real: string): Promise<readonly string[]> {
    const path = fromText(real);
    const links = (await this.#look()).filter(
      ({ place }) => place === path || isBelow(place, path),
    );
    return links.map(({ name, place }) => toText(`${name}${path.slice(place.length)}`));
  }

  /** Where no file system shows what has changed, a look at a large workspace takes seconds: it serves for a while. */
  async #look(): Promise<readonly ProtectedLink[]> {
    const workspace = fromText(this.#root);
    const look = async (before: LinkLook | undefined): Promise<LinkLook> => {
      if (before !== undefined && performance.now() < before.untilMs) return before;
      this.#scan ??= new WorkspaceScan(workspace);
      const startMs = performance.now();
      const found = await this.#scan.look(FOLDER_LIMITS.firstScanMs);
      const endMs = performance.now();
      const isSlow = endMs - startMs > FOLDER_LIMITS.slowScanMs;
      return { found, untilMs: isSlow ? endMs + SERVES * (endMs - startMs) : 0 };
    };
    const looking = this.#looking.then(look, () => look(undefined));
    this.#looking = looking;
    return protectedLinks((await looking).found, workspace);
  }
}

interface LinkLook {
  readonly found: ClosedEntries;
  /** Until when it is not repeated, as `performance.now` has it. */
  readonly untilMs: number;
}

/** Times its own duration. */
const SERVES = 10;
