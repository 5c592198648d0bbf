export interface KeptBuild {
  /** The folder below `.build/`. */
  readonly name: string;
  /** The folders below the root whose sources and JSON files change the build. */
  readonly folders: readonly string[];
  /** Further files that change it, such as the one that says how it is built. */
  readonly files?: readonly string[];
  /** The file that a finished build has. */
  readonly product: string;
  /** Builds into an empty folder. */
  build(outdir: string): void | Promise<void>;
}

export interface OpenBuild {
  readonly dir: string;
  /** Lets other processes remove the build, once it is of older sources. */
  close(): void;
}

/**
 * The build of the sources as they are now, built if it is not kept yet. It stays until `close`, and a while after.
 * Several processes may open it at once.
 * @throws if it cannot be built or kept, for example in a read-only folder or from sources that do not compile.
 */
export function openBuild(root: string, kept: KeptBuild): Promise<OpenBuild>;
