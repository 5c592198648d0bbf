/**
 * Reads the head of a `.mdc` file. Real heads are no YAML: a glob may begin with `*`, which YAML takes for a reference.
 * So this reads lines of `key: value` and ignores keys that it does not know. Pure.
 */
import { RULE_FILE_LIMITS } from '../../shared/limits.ts';
import type { RuleFile } from '../../shared/rules.ts';

export interface RuleHead extends Pick<RuleFile, 'kind' | 'globs' | 'description'> {
  /** The file's text behind the head. */
  readonly body: string;
  /** Why the head cannot be read. The kind is `manual` then. */
  readonly problem?: string;
}

/** A head that cannot be read makes the rule `manual`: nothing tells when it should apply. */
export function readHead(text: string): RuleHead {
  const lines = text.split(/\r?\n/);
  if (lines[0]?.trimEnd() !== FENCE) return { kind: 'manual', body: text.trim() };
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === FENCE);
  if (end < 0) return broken(text, 'its head, which begins with ---, has no end');
  const body = lines
    .slice(end + 1)
    .join('\n')
    .trim();
  const fields = readFields(lines.slice(1, end));
  if (typeof fields === 'string') return broken(body, fields);
  return { ...kindOf(fields), body };
}

const FENCE = '---';

function broken(body: string, problem: string): RuleHead {
  return { kind: 'manual', body: body.trim(), problem };
}

type Fields = ReadonlyMap<string, readonly string[]>;

/** The values of each key: one for a line, more for a list. A sentence where a line cannot be read. */
function readFields(lines: readonly string[]): Fields | string {
  const fields = new Map<string, string[]>();
  let values: string[] | undefined;
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const [, key, value = ''] = /^([A-Za-z][\w-]*)\s*:(.*)$/.exec(line) ?? [];
    const item = /^\s*-\s+(.*)$/.exec(line)?.[1];
    if (key !== undefined) {
      values = isBlockMark(value.trim()) ? [] : [value.trim()];
      fields.set(key.toLowerCase(), values);
    } else if (values && item !== undefined) values.push(item.trim());
    else if (values && /^\s/.test(line)) values.push(line.trim());
    else return `line ${index + 2} of its head is no "key: value"`;
  }
  return fields;
}

/** An empty value, or the mark of YAML for a text on the next lines. */
function isBlockMark(value: string): boolean {
  return value === '' || /^[>|][+-]?$/.test(value);
}

function kindOf(fields: Fields): Omit<RuleHead, 'body'> {
  const always = unquoted((fields.get('alwaysapply') ?? []).join(' ')).toLowerCase();
  if (!['', 'true', 'false'].includes(always)) {
    return { kind: 'manual', problem: 'alwaysApply in its head is neither true nor false' };
  }
  const description = unquoted((fields.get('description') ?? []).join(' ')).slice(
    0,
    RULE_FILE_LIMITS.maxDescriptionChars,
  );
  const described = description === '' ? {} : { description };
  const globs = (fields.get('globs') ?? []).flatMap(splitGlobs);
  if (always === 'true') return { kind: 'always', ...described };
  if (globs.length > 0) return { kind: 'glob', globs: bounded(globs), ...described };
  return { kind: description === '' ? 'manual' : 'description', ...described };
}

/** Splits at commas outside of braces: `*.{ts,tsx}, docs/**` are two. The value may be a list in brackets. */
function splitGlobs(value: string): string[] {
  const inner = /^\[(.*)\]$/.exec(value)?.[1] ?? unquoted(value);
  let depth = 0;
  let glob = '';
  const globs: string[] = [];
  for (const char of `${inner},`) {
    if (char === '{') depth++;
    if (char === '}') depth = Math.max(0, depth - 1);
    if (char === ',' && depth === 0) {
      globs.push(unquoted(glob.trim()));
      glob = '';
    } else glob += char;
  }
  return [...globs, unquoted(glob.trim())].filter((one) => one !== '');
}

function bounded(globs: readonly string[]): string[] {
  const { maxGlobs, maxGlobChars } = RULE_FILE_LIMITS;
  return globs.filter(({ length }) => length <= maxGlobChars).slice(0, maxGlobs);
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
}
