/** Knows the protected names that a person's links give to places of a workspace. */
import { fromText, isBelow, toText } from '../sandbox/byte-path.ts';
import { SANDBOX_LIMITS } from '../sandbox/limits.ts';
import { type ProtectedLink, protectedLinks } from '../sandbox/view/linked-places.ts';
import { WorkspaceScan } from '../sandbox/view/scan.ts';

/** Of one workspace. Its first look reads all folders, each later one those that changed. */
export class ProtectedLinks {
  readonly #root: string;
  #scan: WorkspaceScan | undefined;
  #looking: Promise<readonly ProtectedLink[]> = Promise.resolve([]);

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

  async #look(): Promise<readonly ProtectedLink[]> {
    const look = async () => {
      const workspace = fromText(this.#root);
      this.#scan ??= new WorkspaceScan(workspace);
      return protectedLinks(await this.#scan.look(SANDBOX_LIMITS.firstScanMs), workspace);
    };
    this.#looking = this.#looking.then(look, look);
    return await this.#looking;
  }
}
