export interface KeptBuild {
  /** An existing folder. */
  readonly cache: string;
  /** The build's folder in it: see {@link keyOf}. */
  readonly key: string;
  /** The file that a finished build has. */
  readonly product: string;
  /** Builds into an empty folder. */
  build(outdir: string): void | Promise<void>;
  /** Whether a build of other files must stay. Default: while a process that has opened it runs. */
  isUsed?(dir: string): boolean;
}

export interface OpenBuild {
  readonly dir: string;
  /** Lets other processes remove the build, once the files have changed. */
  close(): void;
}

/**
 * The build of the files as they are now, built if it is not kept yet. It stays until `close`, and a while after.
 * Several processes may open it at once.
 * @throws if it cannot be built or kept, for example in a read-only folder or from sources that do not compile.
 */
export function openBuild(kept: KeptBuild): Promise<OpenBuild>;

/** Keeps a build until the returned function is called. */
export function markUse(dir: string): () => void;

/** These files, and the files below these folders whose names match; in the order of their names. */
export function filesBelow(paths: readonly string[], names?: RegExp): string[];

/** Changes with each change of one of these files. */
export function keyOf(files: readonly string[]): string;

/** The name of a file in a build that stays although no process uses it. */
export const KEPT_MARK: string;
