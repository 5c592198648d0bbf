/**
 * Reads the heads of rules and of definitions. Real heads are no YAML: a glob may begin with `*`, which YAML takes for a
 * reference. So this reads lines of `key: value` and ignores keys that it does not know. Pure.
 */
import { RULE_FILE_LIMITS } from '../../shared/limits.ts';
import type { RuleFile } from '../../shared/wire/rules.ts';

export interface RuleHead extends Pick<RuleFile, 'kind' | 'globs' | 'description'> {
  /** The file's text behind the head. */
  readonly body: string;
  /** Why the head cannot be read. The kind is `manual` then. */
  readonly problem?: string;
}

/** A head that cannot be read makes the rule `manual`, because it is unknown when it should apply. */
export function readHead(text: string): RuleHead {
  const { body, fields, problem } = splitHead(text);
  if (problem !== undefined) return { kind: 'manual', body, problem };
  return fields ? { ...kindOf(fields), body } : { kind: 'manual', body };
}

/** The values of a head by key in lower case: one for a line, more for a list. */
export type HeadFields = ReadonlyMap<string, readonly string[]>;

export interface SplitHead {
  /** The text behind the head, trimmed. */
  readonly body: string;
  /** Undefined where there is no head, or one with a problem. */
  readonly fields?: HeadFields;
  /** Why the head cannot be read. */
  readonly problem?: string;
}

/** Never throws: a head that cannot be read is a `problem`, and the body is there all the same. */
export function splitHead(text: string): SplitHead {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (lines[0]?.trimEnd() !== FENCE) {
    const isMisplaced = /^\s*(?:-{3,}|\+{3})\s*$/.test(
      lines.find((line) => line.trim() !== '') ?? '',
    );
    return { body: text.trim(), ...(isMisplaced && { problem: NOT_FIRST }) };
  }
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === FENCE);
  if (end < 0) return { body: text.trim(), problem: 'its head, which begins with ---, has no end' };
  const body = lines
    .slice(end + 1)
    .join('\n')
    .trim();
  const fields = readFields(lines.slice(1, end));
  return typeof fields === 'string' ? { body, problem: fields } : { body, fields };
}

const FENCE = '---';
const NOT_FIRST = 'its head does not begin with --- in the first line';

/** The text of a key, without quotes; empty without the key. */
export function textOf(fields: HeadFields | undefined, key: string): string {
  return unquoted((fields?.get(key) ?? []).join(' '));
}

/** The list of a key: between commas, in brackets, or on lines of their own. */
export function listOf(fields: HeadFields | undefined, key: string): string[] {
  return (fields?.get(key) ?? []).flatMap(splitList);
}

/** A sentence where a line cannot be read. */
function readFields(lines: readonly string[]): HeadFields | string {
  const fields = new Map<string, string[]>();
  let values: string[] | undefined;
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const [, key, value = ''] = /^([A-Za-z][\w-]*)\s*:(.*)$/.exec(line) ?? [];
    const item = /^\s*-\s+(.*)$/s.exec(line)?.[1]; // With `s` it never looks back.
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

function kindOf(fields: HeadFields): Omit<RuleHead, 'body'> {
  const always = textOf(fields, 'alwaysapply').toLowerCase();
  if (!['', 'true', 'false'].includes(always)) {
    return { kind: 'manual', problem: 'alwaysApply in its head is neither true nor false' };
  }
  const misspelt = [...fields.keys()].find((key) => MISSPELT.test(key));
  if (misspelt) return { kind: 'manual', problem: `its head has no field named ${misspelt}` };
  if (/^\[[^\]]*$/.test(textOf(fields, 'globs'))) {
    return { kind: 'manual', problem: 'the list of globs in its head has no end' };
  }
  const description = textOf(fields, 'description').slice(0, RULE_FILE_LIMITS.maxDescriptionChars);
  const described = description === '' ? {} : { description };
  const globs = listOf(fields, 'globs');
  if (always === 'true') return { kind: 'always', ...described };
  if (globs.length > 0) return { kind: 'glob', globs: bounded(globs), ...described };
  return { kind: description === '' ? 'manual' : 'description', ...described };
}

/** Keys that are meant to be `alwaysApply` or `globs`, in lower case. */
const MISSPELT = /^(?:always|always[-_]apply|glob)$/;

/** Splits at commas outside of braces: `*.{ts,tsx}, docs/**` are two. The value may be a list in brackets. */
function splitList(value: string): string[] {
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
