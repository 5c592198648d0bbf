/** Judges a repository's configuration by its settings, and writes one from the harmless settings alone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { QUARANTINE_LIMITS } from './limits.ts';

/** For example `core.bare` or `remote.origin.url`, as git lists it. The middle part is spelled as in the file. */
export interface Setting {
  readonly key: string;
  readonly value: string;
}

export interface JudgedConfig {
  readonly harmless: readonly Setting[];
  /** All settings that are not known to be harmless. Most of them start programs, or name files that do. */
  readonly refused: readonly Setting[];
}

/**
 * Undefined for a text that git cannot read; then none of it is harmless. An include counts as a setting; nothing
 * follows it.
 */
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

/** The text of a configuration with these settings. The caller passes harmless ones only. */
export function configOf(settings: readonly Setting[]): string {
  return settings.map(toText).join('');
}

/** For a repository whose configuration git cannot read. */
export const PLAIN_SETTINGS: readonly Setting[] = [
  { key: 'core.repositoryformatversion', value: '0' },
  { key: 'core.filemode', value: 'true' },
  { key: 'core.bare', value: 'false' },
  { key: 'core.logallrefupdates', value: 'true' },
];

async function listSettings(config: Uint8Array, git: string): Promise<Setting[] | undefined> {
  const child = spawn(git, LIST, {
    cwd: '/',
    env: { GIT_DIR: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: '/nonexistent' },
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: QUARANTINE_LIMITS.gitTimeoutMs,
    killSignal: 'SIGKILL',
  });
  const exited = once(child, 'exit');
  try {
    // Git ends before it has read everything when the text is no configuration.
    child.stdin.on('error', () => {}).end(config);
    const [listed, [exitCode]] = await Promise.all([text(child.stdout), exited]);
    return exitCode === 0 ? listed.split('\0').filter(Boolean).map(toSetting) : undefined;
  } catch {
    exited.catch(() => {}); // Where no more files may be opened, it has no streams and reports the reason only now.
    return undefined; // Git could not be started.
  }
}

const LIST = ['config', '--file', '-', '--no-includes', '--null', '--list'];

/** A key without a value means true. */
function toSetting(entry: string): Setting {
  const end = entry.indexOf('\n');
  return end < 0
    ? { key: entry, value: 'true' }
    : { key: entry.slice(0, end), value: entry.slice(end + 1) };
}

function isHarmless({ key, value }: Setting): boolean {
  // U+FFFD stands for a byte that is not UTF-8, which we could not write back. Control characters are refused too.
  if (/[\p{Cc}\ufffd]/u.test(`${key}${value}`)) return false;
  return HARMLESS.some(([keys, values]) => keys.test(key) && values.test(value));
}

const SWITCH = /^(?:true|false|yes|no|on|off|0|1|)$/i;
const TEXT = /^/;

/**
 * An address that git reaches by http, https, git or ssh. It holds no word that a program could take for an option. A
 * folder of this machine does not match: a push to a folder runs the hooks in it.
 */
const ADDRESS = new RegExp(
  [
    String.raw`^(?:https?|git|ssh):\/\/(?:[\w.~%+:][\w.~%+:-]*@)?[A-Za-z0-9][\w.-]*(?::\d+)?(?:\/[^\s"'\\]*)?$`,
    String.raw`^(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9][\w.-]*\.[A-Za-z0-9-]+:(?![:-])[^\s"'\\]+$`,
  ].join('|'),
);

/** A short list on purpose: every other setting is put away, and the person can put it back. */
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

/** Writes a section for each setting. Git merges sections of the same name. */
function toText({ key, value }: Setting): string {
  const [section = '', ...rest] = key.split('.');
  const name = rest.pop() ?? '';
  const middle = rest.length === 0 ? '' : ` "${rest.join('.').replaceAll(/["\\]/g, '\\$&')}"`;
  return `[${section}${middle}]\n\t${name} = "${value.replaceAll(/["\\]/g, '\\$&')}"\n`;
}
