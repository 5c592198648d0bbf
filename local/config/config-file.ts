/** Reads and writes config.json. A broken file is refused, never ignored. */
import { lstatSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { configFolder } from '../../machine/config-folder.ts';
import { LocalError } from '../../machine/local-error.ts';
import { requireOwnersFile } from '../../machine/owners-file.ts';
import { makePrivateFolders, readPlainFile, replaceFile } from '../../machine/private-files.ts';
import { codeOf, isSystemError } from '../../machine/system-error.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { findJsonMistake } from './json-error.ts';
import { configSchemaText, SCHEMA_FILE } from './json-schema.ts';
import { describeProblem } from './problems.ts';
import { Config } from './schema.ts';

/** A file as it was read. Without a file, `text` is undefined and the configuration is empty. */
export interface ConfigFile {
  readonly path: string | undefined;
  readonly text: string | undefined;
  readonly config: Config;
}

/** The path of config.json; undefined without a home folder. */
export function configPath(env: NodeJS.ProcessEnv): string | undefined {
  const folder = configFolder(env);
  return folder && join(folder, 'config.json');
}

/** @throws {LocalError} if there is a file that cannot be read or is not right. */
export async function readConfig(env: NodeJS.ProcessEnv): Promise<ConfigFile> {
  const path = configPath(env);
  const text = path && (await readText(path));
  if (path === undefined || text === undefined) return { path, text: undefined, config: {} };
  return { path, text, config: parseConfig(text, path) };
}

/** The file's text; undefined without a file. @throws {LocalError} if it cannot be read, or others may change it. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    const text = await readPlainFile(path);
    await requireOwnersFile(path);
    return text.replace(/^\uFEFF/, '');
  } catch (cause) {
    if (isSystemError(cause, 'ENOENT')) return undefined;
    if (cause instanceof LocalError) throw cause;
    throw new LocalError('refused', `${nameInLine(path)} ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(error: unknown): string {
  if (isSystemError(error, 'EINVAL', 'EISDIR')) {
    return 'is no file: move it away, then `drawbridge config set` makes a new one.';
  }
  if (isSystemError(error, 'EACCES', 'EPERM')) return 'may not be read: change its permissions.';
  if (isSystemError(error, 'EFBIG')) return 'is too large for a configuration: move it away.';
  if (isSystemError(error, 'ENOTDIR'))
    return 'lies below something that is no folder: move that away.';
  return `cannot be read (${codeOf(error)}).`;
}

/** @throws {LocalError} that names the place in the text, or the setting, and what is wrong. */
export function parseConfig(text: string, path: string): Config {
  const mistake = findJsonMistake(text);
  if (mistake) {
    const { line, column, what } = mistake;
    const place = `${nameInLine(path)}, line ${line}, column ${column}`;
    throw new LocalError('refused', `${place}: ${what}.`);
  }
  const parsed = Config.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new LocalError('refused', `${nameInLine(path)}: ${describeProblem(parsed.error)}`);
}

/** Replaces the file (a link's target) and the schema beside it. @throws {LocalError} if they cannot be written. */
export function writeConfig(path: string | undefined, text: string): void {
  if (path === undefined) throw noHome();
  try {
    makePrivateFolders(dirname(path));
    replaceFile(join(dirname(path), SCHEMA_FILE), configSchemaText());
    replaceFile(targetOf(path), text);
  } catch (cause) {
    throw notWritten(path, cause);
  }
}

/** The error for config.json, or a file beside it, where the disk or its rights are in the way. */
export function notWritten(path: string, cause: unknown): LocalError {
  const message = `${nameInLine(path)} cannot be written (${codeOf(cause)}): nothing was changed. Make its folder writable, or set XDG_CONFIG_HOME.`;
  return new LocalError('failed', message, { cause });
}

/** The error for a machine on which config.json has no place. */
export function noHome(): LocalError {
  return new LocalError('refused', 'There is no home folder: set HOME or XDG_CONFIG_HOME.');
}

function targetOf(path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? realpathSync(path) : path;
}
