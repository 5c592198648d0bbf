/** Which settings of a repository's configuration start nothing, and a configuration made of those alone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { text } from 'node:stream/consumers';
import { QUARANTINE_LIMITS } from './limits.ts';

/** `core.bare`, `remote.origin.url`: as git lists it, the part in the middle as it was written. */
export interface Setting {
  readonly key: string;
  readonly value: string;
}

export interface JudgedConfig {
  readonly harmless: readonly Setting[];
  /** Whatever is not known to be harmless: most of it starts programs, or names files that do. */
  readonly refused: readonly Setting[];
}

/** Undefined for what git cannot read; then nothing of it is harmless. Includes are settings, and are not followed. */
export async function judgeConfig(
  config: Uint8Array,
  git: string | undefined,
): Promise<JudgedConfig | undefined> {
  const settings = git === undefined ? undefined : await listSettings(config, git);
  if (settings === undefined) return undefined;
  return {
    harmless: settings.filter(isHarmless),
    refused: settings.filter((setting) => !isHarmless(setting)),
  };
}

/** The text of a configuration with these settings, which must be harmless ones. */
export function configOf(settings: readonly Setting[]): string {
  return settings.map(toText).join('');
}

/** For a repository of whose configuration nothing could be kept. */
export const PLAIN_SETTINGS: readonly Setting[] = [
  { key: 'core.repositoryformatversion', value: '0' },
  { key: 'core.filemode', value: 'true' },
  { key: 'core.bare', value: 'false' },
  { key: 'core.logallrefupdates', value: 'true' },
];

/** The machine's git: never one in the workspace, where a command could have put it. */
export async function findGit(workspace: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(':')) {
    const way = relative(workspace, folder);
    const isInside = way !== '..' && !way.startsWith(`..${sep}`);
    if (!isAbsolute(folder) || isInside) continue;
    const file = join(folder, 'git');
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}

async function listSettings(config: Uint8Array, git: string): Promise<Setting[] | undefined> {
  const child = spawn(git, LIST, {
    cwd: '/',
    env: { GIT_DIR: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: '/nonexistent' },
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: QUARANTINE_LIMITS.gitTimeoutMs,
    killSignal: 'SIGKILL',
  });
  const exited = once(child, 'exit');
  // It ends before it has read everything where the text is no configuration.
  child.stdin.on('error', () => {}).end(config);
  try {
    const [listed, [exitCode]] = await Promise.all([text(child.stdout), exited]);
    return exitCode === 0 ? listed.split('\0').filter(Boolean).map(toSetting) : undefined;
  } catch {
    return undefined; // It could not be started.
  }
}

const LIST = ['config', '--file', '-', '--no-includes', '--null', '--list'];

/** A key without a value is true. */
function toSetting(entry: string): Setting {
  const end = entry.indexOf('\n');
  return end < 0
    ? { key: entry, value: 'true' }
    : { key: entry.slice(0, end), value: entry.slice(end + 1) };
}

function isHarmless({ key, value }: Setting): boolean {
  // A character that no text of UTF-8 has stands for a byte that we would not write back.
  if (/[\p{Cc}\ufffd]/u.test(`${key}${value}`)) return false;
  return HARMLESS.some(([keys, values]) => keys.test(key) && values.test(value));
}

const SWITCH = /^(?:true|false|yes|no|on|off|0|1|)$/i;
const TEXT = /^/;

/**
 * An address that is reached by http, https, git or ssh, with no word in it that a program could take for an option.
 * Not a folder of this machine: a push to one runs the hooks that lie there.
 */
const ADDRESS = new RegExp(
  [
    String.raw`^(?:https?|git|ssh):\/\/(?:[\w.~%+:][\w.~%+:-]*@)?[A-Za-z0-9][\w.-]*(?::\d+)?(?:\/[^\s"'\\]*)?$`,
    String.raw`^(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9][\w.-]*\.[A-Za-z0-9-]+:(?![:-])[^\s"'\\]+$`,
  ].join('|'),
);

/** A short list on purpose: what is not on it is put away, and the person can put it back. */
const HARMLESS: readonly (readonly [keys: RegExp, values: RegExp])[] = [
  [/^core\.repositoryformatversion$/, /^[01]$/],
  [/^core\.(?:filemode|bare|ignorecase|precomposeunicode|symlinks)$/, SWITCH],
  [/^core\.logallrefupdates$/, /^(?:true|false|always)$/],
  [/^core\.(?:autocrlf|safecrlf|eol)$/, /^[a-z]*$/],
  [/^extensions\.objectformat$/, /^sha(?:1|256)$/],
  [/^extensions\.refstorage$/, /^(?:files|reftable)$/],
  [/^(?:user|author|committer)\.(?:name|email)$/, TEXT],
  [/^init\.defaultbranch$/, TEXT],
  [/^remote\..+\.url$/s, ADDRESS],
  [/^remote\..+\.fetch$/s, /^[+^]?refs\/[\w./*-]+(?::refs\/[\w./*-]+)?$/],
  [/^branch\..+\.remote$/s, /^(?:\.|[A-Za-z0-9_][\w-]*)$/],
  [/^branch\..+\.merge$/s, /^refs\/[\w./-]+$/],
  [/^branch\..+\.rebase$/s, SWITCH],
  [/^submodule\..+\.url$/s, ADDRESS],
  [/^submodule\..+\.active$/s, SWITCH],
  [/^pull\.(?:rebase|ff)$/, SWITCH],
];

/** A section for each setting: git reads them together. */
function toText({ key, value }: Setting): string {
  const [section = '', ...rest] = key.split('.');
  const name = rest.pop() ?? '';
  const middle = rest.length === 0 ? '' : ` "${rest.join('.').replaceAll(/["\\]/g, '\\$&')}"`;
  return `[${section}${middle}]\n\t${name} = "${value.replaceAll(/["\\]/g, '\\$&')}"\n`;
}
