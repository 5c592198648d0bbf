/** The files by which Gemini CLI and Qwen Code find a companion. Each holds a key, so only their owner reads them. */
import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { LocalError } from '../../../machine/local-error.ts';
import { makePrivateFolder, replaceFile } from '../../../machine/private-files.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { COMPANION_LIMITS } from './limits.ts';

/** The program that a discovery file is for. Both speak the same protocol. */
export type GuestFamily = 'gemini' | 'qwen';

/** Where the CLIs look. */
export interface DiscoveryPlace {
  /** The folder of Qwen Code: `.qwen` in the home folder, or `$QWEN_HOME`. */
  readonly qwenFolder: string;
  /** The system's folder for temporary files. */
  readonly temporaryFolder: string;
  /** Of a process that lives as long as the companion: Qwen Code deletes the file of a dead one. */
  readonly processId: number;
}

/** The content of the files and the variables. */
export interface OwnAnnouncement {
  readonly port: number;
  /** One for each family, so that it shows which CLI sends a request. */
  readonly tokens: Readonly<Record<GuestFamily, string>>;
  readonly roots: readonly string[];
  readonly ide: { readonly name: string; readonly displayName: string };
}

interface OwnDiscoveryFile {
  readonly path: string;
  /** The folders to make if they do not exist, the outermost first. */
  readonly folders: readonly string[];
  readonly text: string;
}

/** The variables for a shell in which a CLI starts. They decide where several companions have the same folder open. */
export function variablesOf({ port, tokens, roots }: OwnAnnouncement): Record<string, string> {
  return {
    GEMINI_CLI_IDE_SERVER_PORT: String(port),
    GEMINI_CLI_IDE_WORKSPACE_PATH: geminiRoots(roots),
    GEMINI_CLI_IDE_AUTH_TOKEN: tokens.gemini,
    QWEN_CODE_IDE_SERVER_PORT: String(port),
    QWEN_CODE_IDE_WORKSPACE_PATH: qwenRoots(roots),
  };
}

function discoveryFiles(place: DiscoveryPlace, announced: OwnAnnouncement): OwnDiscoveryFile[] {
  const { qwenFolder, temporaryFolder, processId } = place;
  const { port, tokens, roots, ide: ideInfo } = announced;
  const folderOf = (name: string) => [
    join(temporaryFolder, name),
    join(temporaryFolder, name, 'ide'),
  ];
  const gemini = { port, workspacePath: geminiRoots(roots), authToken: tokens.gemini, ideInfo };
  const qwen = { port, workspacePath: qwenRoots(roots), authToken: tokens.qwen, ideInfo };
  const lock = { ...qwen, ppid: processId, ideName: ideInfo.displayName };
  const name = `${processId}-${port}.json`;
  return [
    fileIn(folderOf('gemini'), `gemini-ide-server-${name}`, gemini),
    fileIn([qwenFolder, join(qwenFolder, 'ide')], `${port}.lock`, lock),
    // Qwen Code's written specification names this file. The program itself reads the lock only.
    fileIn(folderOf('qwen'), `qwen-code-ide-server-${name}`, qwen),
  ];
}

function fileIn(folders: readonly string[], name: string, content: object): OwnDiscoveryFile {
  return { folders, path: join(folders.at(-1) ?? '', name), text: `${JSON.stringify(content)}\n` };
}

/**
 * Gemini CLI splits the list first, and decodes each path then. It decodes its own folder in the same way, so a percent
 * sign stays as it is.
 */
function geminiRoots(roots: readonly string[]): string {
  const encoded = encodeURIComponent(delimiter);
  return roots.map((root) => root.replaceAll(delimiter, encoded)).join(delimiter);
}

/** Qwen Code decodes nothing, but takes an array. */
function qwenRoots(roots: readonly string[]): string {
  const isPlain = roots.every((root) => !root.includes(delimiter));
  return isPlain ? roots.join(delimiter) : JSON.stringify(roots);
}

/** The files of one companion, from {@link DiscoveryFiles.announce} to {@link DiscoveryFiles.remove}. */
export class DiscoveryFiles {
  readonly #place: DiscoveryPlace;
  readonly #problems = new Map<string, string>();
  #files: readonly OwnDiscoveryFile[] = [];
  #keeping: NodeJS.Timeout | undefined;

  constructor(place: DiscoveryPlace) {
    this.#place = place;
  }

  /** One sentence for each file that could not be written. */
  get problems(): readonly string[] {
    return [...this.#problems.values()];
  }

  /** Path and text of each file, for {@link removeLeftover}. */
  get texts(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#files.map(({ path, text }) => [path, text]));
  }

  /** Writes the files, or writes them anew after a change. A file that is deleted later comes back. */
  announce(announced: OwnAnnouncement): void {
    this.#files = discoveryFiles(this.#place, announced);
    for (const file of this.#files) this.#write(file);
    this.#keeping ??= setInterval(() => this.#restore(), COMPANION_LIMITS.keepFilesMs).unref();
  }

  /** Removes what this companion wrote. Synchronous: an editor that ends gives no time. May be called twice. */
  remove(): void {
    clearInterval(this.#keeping);
    removeLeftover(this.texts);
    this.#files = [];
  }

  #restore(): void {
    for (const file of this.#files) if (isMissing(file.path)) this.#write(file);
  }

  #write({ path, folders, text }: OwnDiscoveryFile): void {
    try {
      for (const folder of folders) openFolder(folder);
      replaceFile(path, text);
      this.#problems.delete(path);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#problems.set(path, `${path} cannot be written: ${reason}`);
    }
  }
}

/** Removes files that a companion left behind, each only if it still has the text that was written. */
export function removeLeftover(texts: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(texts)) {
    try {
      const stats = lstatSync(path);
      if (!stats.isFile() || stats.size !== Buffer.byteLength(text)) continue;
      if (readFileSync(path, 'utf8') === text) rmSync(path);
    } catch {
      // The file, its folder or the right to it is gone: nothing of ours can be removed.
    }
  }
}

function isMissing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch (error) {
    return isSystemError(error, 'ENOENT', 'ENOTDIR');
  }
}

/**
 * Makes the folder if it does not exist. In a folder of another user, that user could put a file of theirs in the place
 * of ours, and the CLI would connect to their program.
 * @throws {LocalError} for a link, and for a folder that another user owns or may write to.
 */
function openFolder(path: string): void {
  if (isMissing(dirname(path))) throw refusal(`${dirname(path)} does not exist.`);
  makePrivateFolder(path);
  const stats = lstatSync(path);
  if (!stats.isDirectory()) throw refusal(`${path} is no folder: move it away.`);
  const user = process.getuid?.();
  if (user === undefined) return;
  if (stats.uid !== user) throw refusal(`${path} belongs to another user.`);
  if ((stats.mode & WRITABLE_BY_OTHERS) !== 0)
    throw refusal(`other users may write to ${path}: close it with \`chmod 700\`.`);
}

const WRITABLE_BY_OTHERS = 0o022;

function refusal(message: string): LocalError {
  return new LocalError('refused', message);
}
