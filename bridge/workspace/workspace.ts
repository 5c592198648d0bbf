/** The folder a bridge works in, and the only road from a path in a call to a path on disk. */
import { lstat, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isSystemError } from '../../machine/system-error.ts';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { isWithin } from '../../shared/paths.ts';
import { nameInLine } from '../../shared/plain-sight.ts';
import { ToolFailure, toFileFailure } from '../failure.ts';
import { type Closure, closureOf } from '../sandbox/protected.ts';

/** Why a folder cannot be a workspace. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
  readonly code: 'MISSING' | 'NOT_A_FOLDER' | 'TOO_WIDE';

  constructor(code: WorkspaceError['code'], message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}

/** What a tool wants of a path; `write` includes `read`, for an edit answers with parts of the file. */
export type Access = 'read' | 'write';

/** A path that was let through. Only {@link Workspace.resolve} makes one, and only a `write` place is ever changed. */
export interface Place<Granted extends Access = Access> {
  readonly access: Granted;
  /** As called, relative to the workspace and with `/`; `.` is the workspace itself. */
  readonly name: string;
  /** Where it really is: absolute, with every symbolic link resolved. Missing parts stand as they were called. */
  readonly path: string;
  /** Whether the call named a symbolic link, and `path` is what it leads to. */
  readonly isLink: boolean;
}

/** One folder on disk; whoever holds it can reach what is inside, and nothing else. */
export class Workspace {
  /** Absolute, with every symbolic link resolved. */
  readonly root: string;
  /** The folder as it was opened: absolute paths in calls may begin with either. */
  readonly #given: string;
  readonly #closedPaths: readonly string[];
  /** As {@link isWithin} takes them. */
  readonly #allowedPaths: readonly string[];
  readonly #isShown: (name: string) => boolean;

  private constructor(
    root: string,
    given: string,
    closedPaths: readonly string[],
    allowedPaths: readonly string[] = ['.'],
    isShown: (name: string) => boolean = () => true,
  ) {
    this.root = root;
    this.#given = given;
    this.#closedPaths = closedPaths;
    this.#allowedPaths = allowedPaths;
    this.#isShown = isShown;
  }

  /**
   * Opens a folder. `/`, the home folder and whatever contains it are refused, as is what is no folder; all with a
   * {@link WorkspaceError}. `closedPaths` are absolute paths that may neither be read nor changed (our own state).
   */
  static async open(
    folder: string,
    { closedPaths = [], home = homedir() }: { closedPaths?: readonly string[]; home?: string } = {},
  ): Promise<Workspace> {
    const given = resolve(folder);
    const root = await realFolder(given);
    if (isInside(root, await resolveExisting(resolve(home)))) {
      throw new WorkspaceError(
        'TOO_WIDE',
        `${nameInLine(root)} is or contains the home folder: choose the folder of one project.`,
      );
    }
    return new Workspace(
      root,
      given,
      await Promise.all(closedPaths.map((path) => resolveExisting(resolve(path)))),
    );
  }

  /**
   * The same folder, of which only these paths and what is below them can be reached; they replace those it had. They
   * are relative to the folder, and what counts is where a path leads: a link from one of them to elsewhere is refused
   * as `PATH_NOT_ALLOWED`, and an allowed path that is a link itself allows nothing.
   */
  limitedTo(allowedPaths: readonly string[]): Workspace {
    return new Workspace(this.root, this.#given, this.#closedPaths, allowedPaths, this.#isShown);
  }

  /**
   * The same folder without what the predicate refuses, which is asked with names relative to the folder: such a path
   * is neither resolved (`DENIED`) nor shown. It replaces the predicate it had.
   */
  showing(isShown: (name: string) => boolean): Workspace {
    return new Workspace(this.root, this.#given, this.#closedPaths, this.#allowedPaths, isShown);
  }

  /**
   * Lets a path of a call through, or throws a {@link ToolFailure}. The place may not exist. What the path leads to
   * can still be swapped afterwards; sandbox/files.ts and changes.ts work on the resolved path in a way that notices.
   */
  async resolve<Wanted extends Access>(path: string, access: Wanted): Promise<Place<Wanted>> {
    if (path.trim() === '' || path.includes('\0')) {
      throw new ToolFailure(
        'INVALID_PATH',
        'A path must not be empty or contain a NUL: give one relative to the workspace.',
      );
    }
    const called = this.#locate(path);
    const name = this.nameOf(called);
    try {
      const real = await resolveExisting(called);
      if (!isInside(this.root, real)) throw outside(path);
      this.#assertOpen(name, real, access);
      this.#assertAllowed(name, real);
      return { access, name, path: real, isLink: await isSymbolicLink(called) };
    } catch (error) {
      throw toFileFailure(error, name);
    }
  }

  /** The name, relative to the workspace, of a resolved path inside it. */
  nameOf(path: string): string {
    return toName(relative(this.root, path));
  }

  /** Whether a search may show what is in a file it came across, by its resolved path. */
  mayShow(path: string): boolean {
    return this.mayName(path) && closureOf(relative(this.root, path)) !== 'secret';
  }

  /** Whether a search may tell that there is such a file: that one holds secrets is no secret. */
  mayName(path: string): boolean {
    if (this.#closedPaths.some((closed) => isInside(closed, path))) return false;
    const name = this.nameOf(path);
    return isWithin(name, this.#allowedPaths) && this.#isShown(name);
  }

  /** The call's path below the root, `..` taken away; nothing on disk is looked at yet. */
  #locate(path: string): string {
    const called = isAbsolute(path) ? resolve(path) : resolve(this.root, path);
    if (isInside(this.root, called)) return called;
    if (isInside(this.#given, called)) return join(this.root, relative(this.#given, called));
    throw outside(path);
  }

  #assertOpen(name: string, real: string, access: Access): void {
    if (this.#closedPaths.some((closed) => isInside(closed, real))) throw closedTo(name, 'secret');
    for (const seen of [name, relative(this.root, real)]) {
      const closure = closureOf(seen);
      if (closure === 'secret' || (closure === 'protected' && access === 'write')) {
        throw closedTo(name, closure);
      }
    }
  }

  #assertAllowed(name: string, real: string): void {
    const realName = this.nameOf(real);
    if (!this.#isShown(realName)) throw denied(name);
    if (isWithin(realName, this.#allowedPaths)) return;
    const shown = nameInLine(name);
    const what =
      realName === name ? `${shown} is` : `${shown} leads to ${nameInLine(realName)}, which is`;
    throw new ToolFailure(
      'PATH_NOT_ALLOWED',
      `${what} not within the paths that the request allows: use one in ${listed(this.#allowedPaths)}.`,
    );
  }
}

async function realFolder(given: string): Promise<string> {
  try {
    const root = await realpath(given);
    if ((await stat(root)).isDirectory()) return root;
  } catch (cause) {
    throw new WorkspaceError(
      'MISSING',
      `${nameInLine(given)} cannot be opened: choose a folder that exists.`,
      {
        cause,
      },
    );
  }
  throw new WorkspaceError(
    'NOT_A_FOLDER',
    `${nameInLine(given)} is a file: choose the folder of a project.`,
  );
}

/** The real path of what exists of `path`, with the missing rest as it is. Throws the system's error otherwise. */
async function resolveExisting(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if (!isSystemError(error, 'ENOENT') || parent === path) throw error;
    return join(await resolveExisting(parent), basename(path));
  }
}

async function isSymbolicLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return false;
    throw error;
  }
}

/** By path segments: `/a/bc` is not inside `/a/b`. A path is inside itself. */
function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
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

/** The policy has judged the call before: its path leads elsewhere by now, or a search came across it. */
function denied(name: string): ToolFailure {
  return new ToolFailure(
    'DENIED',
    `The rules of this machine are about where ${nameInLine(name)} leads by now: use another path, or ask the person.`,
  );
}

function closedTo(name: string, closure: Closure): ToolFailure {
  return closure === 'secret'
    ? new ToolFailure(
        'SECRET_PATH',
        `${nameInLine(name)} may hold secrets, so tools neither read nor change it: ask the person for what is needed of it.`,
      )
    : new ToolFailure(
        'PROTECTED_PATH',
        `${nameInLine(name)} configures git, an editor, an agent or a shell, so tools do not change it: ask the person to do it.`,
      );
}

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, TOOL_LIMITS.maxNamedPaths).map(nameInLine).join(', ');
  const others = paths.length - TOOL_LIMITS.maxNamedPaths;
  return others > 0 ? `${shown} or ${others} more` : shown;
}
