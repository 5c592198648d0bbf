/** The folder of a bridge. It is the only way from a path in a call to a path on disk. */
import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ToolFailure, toFileFailure } from '../../machine/failure.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { isWithin } from '../../shared/text/paths.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { type Closure, closureOf, isObeyedPath, isSecretPath } from './closed/protected.ts';
import {
  type IgnoreFile,
  INDEX_IGNORE_FILES,
  SECRET_IGNORE_FILES,
  TOOL_IGNORE_FILES,
} from './ignored/chain.ts';
import { IgnoredPaths } from './ignored/ignored-paths.ts';
import { IGNORED_LIMITS } from './ignored/limits.ts';
import { ProtectedLinks } from './protected-links.ts';
import { completeRepository, marksOf, type RepositoryMark } from './repository-marks.ts';

/** Why a folder cannot be a workspace. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
  readonly code: 'MISSING' | 'NOT_A_FOLDER' | 'TOO_WIDE';

  constructor(code: WorkspaceError['code'], message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}

/** The access that a tool asks for. `write` includes `read`, because an edit's answer shows parts of the file. */
export type Access = 'read' | 'write';

/** A path that was let through. Only {@link Workspace.resolve} makes one. Only those for `write` are ever changed. */
export interface ResolvedPath<Granted extends Access = Access> {
  readonly access: Granted;
  /** As called, relative to the workspace and with `/`. `.` is the workspace itself. */
  readonly name: string;
  /** The real path: absolute, with every symbolic link resolved. Missing parts stay as called. */
  readonly path: string;
  /** Whether the call named a symbolic link. `path` is then its target. */
  readonly isLink: boolean;
  /** Of `path`, where it may be written. A change that makes the place must look at them once more, in their turn. */
  readonly marks: readonly RepositoryMark[];
}

export interface WorkspaceOptions {
  readonly closedPaths?: readonly string[];
  /** Absolute paths of secrets that the machine's owner opens. */
  readonly openedPaths?: readonly string[];
  readonly home?: string;
  /** The folder that this one is a copy of, absolute: calls may begin a path with it. */
  readonly standsFor?: string;
}

/** What ignore files close in a folder. All views of one workspace share it. */
interface Ignored {
  /** Those of the folder, and those of the folder that it stands for. */
  readonly closed: readonly IgnoredPaths[];
  readonly unindexed: readonly IgnoredPaths[];
  /** Real paths of ignored entries, also of those that a command has moved to where no rule closes them. */
  held: (maxAgeMs?: number) => readonly string[];
}

/** A folder, and the part of it that calls may reach. */
interface View {
  readonly root: string;
  /** Absolute paths in calls may begin with `root`, or with this one: the path as it was opened, or another folder's. */
  readonly given: string;
  readonly closedPaths: readonly string[];
  readonly openedPaths: ReadonlySet<string>;
  readonly ignored: Ignored;
  readonly links: ProtectedLinks;
  /** As {@link isWithin} takes them. */
  readonly allowedPaths: readonly string[];
  readonly isShown: (name: string) => boolean;
  /** Protected paths that may be written all the same. */
  readonly opened?: RegExp;
}

/** One folder on disk. It gives access to everything inside, and to nothing else. */
export class Workspace {
  readonly #view: View;

  private constructor(view: View) {
    this.#view = view;
  }

  /** Absolute, with every symbolic link resolved. */
  get root(): string {
    return this.#view.root;
  }

  /**
   * Opens a folder. Throws a {@link WorkspaceError} for `/`, the home folder, a folder that contains it, and anything
   * that is no folder. `closedPaths` are absolute paths that may neither be read nor changed (our own state). A path in
   * a call may begin with `standsFor` instead of the folder, whose ignore files then count too.
   */
  static async open(
    folder: string,
    { closedPaths = [], openedPaths = [], home = homedir(), standsFor }: WorkspaceOptions = {},
  ): Promise<Workspace> {
    const given = resolve(folder);
    const root = await realFolder(given);
    if (isInside(root, await resolveExisting(resolve(home)))) {
      throw new WorkspaceError(
        'TOO_WIDE',
        `${nameInLine(root)} is or contains the home folder: choose the folder of one project.`,
      );
    }
    const roots = standsFor === undefined ? [root] : [root, standsFor];
    const ignored = {
      closed: roots.map((each) => new IgnoredPaths(each, TOOL_IGNORE_FILES)),
      unindexed: roots.map((each) => new IgnoredPaths(each, INDEX_IGNORE_FILES)),
      held: () => [],
    };
    const closed = await Promise.all(closedPaths.map((path) => resolveExisting(resolve(path))));
    return new Workspace({
      root,
      given: standsFor ?? given,
      closedPaths: closed,
      openedPaths: new Set(openedPaths),
      ignored,
      links: new ProtectedLinks(root),
      allowedPaths: ['.'],
      isShown: () => true,
    });
  }

  /**
   * The same folder, limited to these paths and everything below them. They replace the earlier limits and are relative
   * to the folder. The real path counts: a link from an allowed path to elsewhere is refused as `PATH_NOT_ALLOWED`, and
   * an allowed path that is itself a link allows nothing.
   */
  limitedTo(allowedPaths: readonly string[]): Workspace {
    return new Workspace({ ...this.#view, allowedPaths });
  }

  /**
   * The same folder without the paths that `isShown` refuses: they are neither resolved (`DENIED`) nor shown. `isShown`
   * gets names relative to the folder. It replaces the earlier predicate.
   */
  showing(isShown: (name: string) => boolean): Workspace {
    return new Workspace({ ...this.#view, isShown });
  }

  /**
   * The same folder, in which protected paths that match as a whole may be written: both as called and where they lead.
   * Only for a tool whose every change a person allows.
   */
  opening(paths: RegExp): Workspace {
    return new Workspace({ ...this.#view, opened: paths });
  }

  /** Keeps closed what an ignore file closes and a command moves: `held` gives the present real paths. */
  keepClosed(held: () => readonly string[]): void {
    let known = { paths: held(), readMs: performance.now() };
    this.#view.ignored.held = (maxAgeMs = 0) => {
      const isOld = known.readMs <= performance.now() - maxAgeMs;
      if (isOld) known = { paths: held(), readMs: performance.now() };
      return known.paths;
    };
  }

  /**
   * Lets a path of a call through, or throws a {@link ToolFailure}. The place may not exist. Its target can still be
   * replaced afterwards; workspace/files.ts and changes.ts notice that. With `isEntry` a link at the path is the place
   * itself, and not its target.
   */
  async resolve<Wanted extends Access>(
    path: string,
    access: Wanted,
    { isEntry = false }: { isEntry?: boolean } = {},
  ): Promise<ResolvedPath<Wanted>> {
    if (path.trim() === '' || path.includes('\0')) {
      throw new ToolFailure(
        'INVALID_PATH',
        'A path must not be empty or contain a NUL: give one relative to the workspace.',
      );
    }
    const called = this.#locate(path);
    const name = this.nameOf(called);
    try {
      const real = isEntry
        ? join(await resolveExisting(dirname(called)), basename(called))
        : await resolveExisting(called);
      if (!isInside(this.root, real)) throw outside(path);
      const linked = access === 'write' ? await this.#view.links.namesOf(real) : [];
      this.#assertOpen(name, [name, relative(this.root, real), ...linked], { real, access });
      await this.#assertNotIgnored(name, real);
      const marks = access === 'write' ? marksOf(this.root, this.nameOf(real).split('/')) : [];
      if (await completeRepository(marks)) throw closedTo(name, 'protected');
      this.#assertAllowed(name, real);
      const isLink = (await lstatIfAny(called))?.isSymbolicLink() === true;
      return { access, name, path: real, isLink, marks };
    } catch (error) {
      throw toFileFailure(error, name);
    }
  }

  /** The name, relative to the workspace, of a resolved path inside it. */
  nameOf(path: string): string {
    const isBelow = path.startsWith(`${this.root}/`) && isPlain(path);
    return isBelow ? path.slice(this.root.length + 1) : toName(relative(this.root, path));
  }

  /** Whether the content of a file may be shown where nothing asks for it by name, by the file's resolved path. */
  mayShow(path: string): boolean {
    return this.mayName(path) && this.#closureOf(relative(this.root, path)) !== 'secret';
  }

  /** The same for a search that found it: the lines of an ignore file are the names that it closes. */
  mayFind(path: string): boolean {
    return !TOOL_IGNORE_FILES.some((name) => name === basename(path)) && this.mayShow(path);
  }

  /** Whether a search may name a file. The name of a file with secrets may be shown, that of an ignored one not. */
  mayName(path: string, isFolder = false): boolean {
    return this.#mayName(path, this.nameOf(path), isFolder);
  }

  /** Whether the model may get the name of a file where nothing asks for the file itself. */
  mayVolunteer(path: string, isFolder = false): boolean {
    const name = this.nameOf(path);
    return this.#mayName(path, name, isFolder) && !this.#isUnindexed(name, isFolder);
  }

  /**
   * Whether commands cannot read what is at an absolute path: by its names, or by an ignore file. It need not exist. A
   * path outside the workspace is not hidden.
   */
  hides(path: string): boolean {
    if (!isInside(this.root, path)) return false;
    const name = this.nameOf(path);
    const isIgnored = (isFolder: boolean) =>
      this.#view.ignored.closed.some((ignored) =>
        isOfCommands(ignored.closing(name, { isFolder })),
      );
    return this.#closureOf(name) === 'secret' || isIgnored(false) || isIgnored(true);
  }

  /** The same by its names alone. */
  isSecretName(path: string): boolean {
    if (!isInside(this.root, path)) return false;
    return isSecretPath(this.nameOf(path)) && !this.#view.openedPaths.has(path);
  }

  /** Whether an ignore file in the workspace's own folder, or in one above it, closes anything to commands. */
  hasIgnoreRules(): boolean {
    return this.#view.ignored.closed.some((ignored) => ignored.filesAtTop().some(isOfCommands));
  }

  /** Whether the model gets a file, by its resolved path, only where something asks for the file itself. */
  isUnindexed(path: string, isFolder = false): boolean {
    return this.#isUnindexed(this.nameOf(path), isFolder);
  }

  /** By a name relative to the workspace. What the owner opens is no secret, and may still be protected. */
  #closureOf(name: string): Closure | null {
    const closure = closureOf(name);
    const isOpened = closure === 'secret' && this.#view.openedPaths.has(join(this.root, name));
    return isOpened ? (isObeyedPath(name) ? 'protected' : null) : closure;
  }

  #mayName(path: string, name: string, isFolder: boolean): boolean {
    if (this.#view.closedPaths.some((closed) => isInside(closed, path))) return false;
    if (!isWithin(name, this.#view.allowedPaths) || !this.#view.isShown(name)) return false;
    const look = { isFolder, maxAgeMs: IGNORED_LIMITS.maxAgeMs };
    return (
      this.#view.ignored.closed.every((ignored) => ignored.closing(name, look) === undefined) &&
      !this.#view.ignored.held(look.maxAgeMs).some((held) => isInside(held, path))
    );
  }

  #isUnindexed(name: string, isFolder: boolean): boolean {
    const look = { isFolder, maxAgeMs: IGNORED_LIMITS.maxAgeMs };
    return this.#view.ignored.unindexed.some(
      (ignored) => ignored.closing(name, look) !== undefined,
    );
  }

  /** The call's path below the root, without `..`. It does not read the disk. */
  #locate(path: string): string {
    const called = isAbsolute(path) ? resolve(path) : resolve(this.root, path);
    if (isInside(this.root, called)) return called;
    if (isInside(this.#view.given, called))
      return join(this.root, relative(this.#view.given, called));
    throw outside(path);
  }

  /** `names` are all by which a program may find the place. */
  #assertOpen(
    name: string,
    names: readonly string[],
    { real, access }: { readonly real: string; readonly access: Access },
  ): void {
    if (this.#view.closedPaths.some((closed) => isInside(closed, real)))
      throw closedTo(name, 'secret');
    for (const seen of names) {
      const closure = this.#closureOf(seen);
      const isHeld =
        closure === 'protected' && access === 'write' && !this.#view.opened?.test(seen);
      if (closure === 'secret' || isHeld) {
        throw closedTo(name, closure);
      }
    }
  }

  async #assertNotIgnored(name: string, real: string): Promise<void> {
    const isFolder = (await lstatIfAny(real))?.isDirectory() === true;
    for (const seen of [name, this.nameOf(real)]) {
      for (const ignored of this.#view.ignored.closed) {
        const file = ignored.closing(seen, { isFolder });
        if (file !== undefined) throw ignoredBy(file, name);
      }
    }
    if (this.#view.ignored.held().some((held) => isInside(held, real)))
      throw closedTo(name, 'secret');
  }

  #assertAllowed(name: string, real: string): void {
    const realName = this.nameOf(real);
    if (!this.#view.isShown(realName)) throw denied(name);
    if (isWithin(realName, this.#view.allowedPaths)) return;
    const shown = nameInLine(name);
    const what =
      realName === name ? `${shown} is` : `${shown} leads to ${nameInLine(realName)}, which is`;
    throw new ToolFailure(
      'PATH_NOT_ALLOWED',
      `${what} not within the paths that the request allows: use one in ${listed(this.#view.allowedPaths)}.`,
    );
  }
}

function isOfCommands(file: IgnoreFile | undefined): boolean {
  return file !== undefined && SECRET_IGNORE_FILES.some((name) => name === file.name);
}

async function realFolder(given: string): Promise<string> {
  try {
    const root = await realpath(given);
    if ((await stat(root)).isDirectory()) return root;
  } catch (cause) {
    throw new WorkspaceError(
      'MISSING',
      `${nameInLine(given)} cannot be opened: choose a folder that exists.`,
      { cause },
    );
  }
  throw new WorkspaceError(
    'NOT_A_FOLDER',
    `${nameInLine(given)} is a file: choose the folder of a project.`,
  );
}

/**
 * The real path of the existing part of `path`, with the missing rest as it is. Throws the system's error otherwise.
 */
async function resolveExisting(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if (!isSystemError(error, 'ENOENT') || parent === path) throw error;
    return join(await resolveExisting(parent), basename(path));
  }
}

/** Undefined for what does not exist yet: tools make files. */
async function lstatIfAny(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Compares path segments: `/a/bc` is not inside `/a/b`. A path is inside itself. */
function isInside(folder: string, path: string): boolean {
  if (isPlain(folder) && isPlain(path)) return path === folder || path.startsWith(`${folder}/`);
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Whether an absolute path has no part that is empty, `.` or `..`. A look at a large folder compares thousands of paths. */
function isPlain(path: string): boolean {
  return path.startsWith('/') && !/\/\.{0,2}(?:\/|$)/.test(path);
}

function toName(way: string): string {
  return way === '' ? '.' : way.split(sep).join('/');
}

function outside(path: string): ToolFailure {
  return new ToolFailure(
    'OUTSIDE_WORKSPACE',
    `${nameInLine(path)} leads outside the workspace: only paths inside it can be used, best relative to it.`,
  );
}

/** The policy judged the call before. The path now leads to another place, or a search found it. */
function denied(name: string): ToolFailure {
  return new ToolFailure(
    'DENIED',
    `${nameInLine(name)} leads to a path that the rules of this machine forbid or ask about: use another path, or ask the person.`,
  );
}

/** The place is closed to tools by its names, or by what they would make of its folder. */
export function closedTo(name: string, closure: Closure): ToolFailure {
  return closure === 'secret'
    ? new ToolFailure(
        'SECRET_PATH',
        `${nameInLine(name)} may hold secrets, so tools neither read nor change it: ask the person for what is needed of it, or to open it in sandbox.json.`,
      )
    : new ToolFailure(
        'PROTECTED_PATH',
        `${nameInLine(name)} configures git, an editor, an agent or a shell, so tools do not change it: ask the person to do it.`,
      );
}

function ignoredBy({ name: file, content }: IgnoreFile, name: string): ToolFailure {
  const shown = nameInLine(name);
  return new ToolFailure(
    'SECRET_PATH',
    content.state === 'rules'
      ? `${shown} is closed by ${file}, so tools neither read nor change it: ask the person for what is needed of it.`
      : `${shown} is closed, because a ${file} above or beside it is ${content.kind} and cannot be read: ask the person to make it a regular file.`,
  );
}

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, TOOL_LIMITS.maxNamedPaths).map(nameInLine).join(', ');
  const others = paths.length - TOOL_LIMITS.maxNamedPaths;
  return others > 0 ? `${shown} or ${others} more` : shown;
}
