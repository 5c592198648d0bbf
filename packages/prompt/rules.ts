/** Gives the model the rules of the workspace: each once, when it begins to apply, and again when it has changed. Pure. */
import { cutLines } from '../../shared/text/cut-lines.ts';
import { withoutEnd } from '../../shared/text/mentions.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { nameOfRule, type RuleFile, type RuleSet } from '../../shared/wire/rules.ts';
import { tagged } from './escape.ts';
import { matchesGlobs } from './globs.ts';
import { PROMPT_LIMITS } from './limits.ts';

/** Why a rule is sent. `path` is the file that it matches. */
export type Because =
  | { readonly type: 'always' | 'mentioned' }
  | { readonly type: 'file'; readonly path: string };

/** A rule as the model knows it. */
export interface SentRule {
  readonly text: string;
  readonly because: Because;
}

/** What the model knows of the rules at some place. */
export interface KnownRules {
  /** By path. */
  readonly sent: ReadonlyMap<string, SentRule>;
  /** The list of rules that the model can read itself; empty without a list. */
  readonly listed: string;
}

export const NO_RULES: KnownRules = { sent: new Map(), listed: '' };

/** What happened since the last message with rules. */
export interface RuleOccasion {
  /** Paths of files that were touched or are open, relative to the workspace. */
  readonly touched: readonly string[];
  /** The user's words. */
  readonly said: string;
}

export interface RuleParts {
  /** Parts of a message. */
  readonly parts: readonly string[];
  /** What the model knows after it. */
  readonly known: KnownRules;
}

/** Without a set, nothing new is known of the rules, and the earlier ones still hold. */
export function renderRules(
  set: RuleSet | undefined,
  occasion: RuleOccasion,
  known: KnownRules,
): RuleParts {
  if (!set) return { parts: [], known };
  const sent = new Map<string, SentRule>();
  const parts: string[] = [];
  const named = new Set(mentionsIn(occasion.said));
  for (const rule of set.files) {
    const before = known.sent.get(rule.path);
    const because = holds(rule, before)
      ? before?.because
      : becauseOf(rule, { ...occasion, named }, set);
    if (!because) continue;
    sent.set(rule.path, { text: rule.text, because });
    if (before?.text !== rule.text) parts.push(ruleTag(rule));
  }
  for (const path of known.sent.keys()) {
    if (!sent.has(path)) parts.push(tagged('rule', `${nameInLine(path)}\n(no longer applies)`));
  }
  const listed = listOf(set);
  if (listed !== known.listed) parts.push(tagged('available_rules', listed || '(none any more)'));
  return { parts, known: { sent, listed } };
}

/** The rules with their texts cut to what a model with this room, in UTF-16 units, can be sent. */
export function fitRules(set: RuleSet | undefined, room: number): RuleSet | undefined {
  if (!set) return undefined;
  let left = Math.min(PROMPT_LIMITS.maxRulesChars, Math.floor(room * PROMPT_LIMITS.maxShare));
  const files = set.files.map((rule) => {
    const text = cutLines(rule.text, left);
    left = Math.max(0, left - text.length);
    return text === rule.text ? rule : { ...rule, text };
  });
  return { ...set, files };
}

/** The UTF-16 units that all rules of a set can take in messages. */
export function rulesChars(set: RuleSet | undefined): number {
  const files = set?.files ?? [];
  const tags = files.reduce((sum, rule) => sum + ruleTag(rule).length + GAP, 0);
  return set ? tags + tagged('available_rules', listOf(set)).length : 0;
}

/** The UTF-16 units between two parts of a message, and around a message of its own. */
const GAP = 26;

/** Whether a rule that was sent before still applies. A rule that was always sent may have become one that is not. */
function holds({ kind }: RuleFile, before: SentRule | undefined): boolean {
  return before !== undefined && (before.because.type !== 'always' || kind === 'always');
}

/** An occasion with the names in what was said. */
interface NamedOccasion extends RuleOccasion {
  readonly named: ReadonlySet<string>;
}

/** Why the rule begins to apply; null where it does not. A message can name a rule of any kind. */
function becauseOf(
  rule: RuleFile,
  { touched, named }: NamedOccasion,
  set: RuleSet,
): Because | null {
  if (rule.kind === 'always') return { type: 'always' };
  if (isNamed(rule, named)) return { type: 'mentioned' };
  const path = touched.find((one) => appliesTo(rule, one, set));
  return path === undefined ? null : { type: 'file', path };
}

/** Whether the rule is about the file. Of rule files with the same name, the nearest one is. */
function appliesTo(rule: RuleFile, path: string, { files }: RuleSet): boolean {
  const below = pathBelow(rule.folder, path);
  if (below === null) return false;
  if (rule.kind === 'glob') {
    const globs = rule.globs ?? [];
    return matchesGlobs(globs, below) || (rule.folder !== '.' && matchesGlobs(globs, path));
  }
  if (rule.kind !== 'folder') return false;
  return !files.some(
    (other) =>
      other.kind === 'folder' &&
      nameOfRule(other) === nameOfRule(rule) &&
      other.folder.length > rule.folder.length &&
      pathBelow(other.folder, path) !== null,
  );
}

function pathBelow(folder: string, path: string): string | null {
  if (folder === '.') return path;
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null;
}

function isNamed(rule: RuleFile, named: ReadonlySet<string>): boolean {
  return [nameOfRule(rule), `${nameOfRule(rule)}.mdc`, rule.path].some((name) => named.has(name));
}

/** The names behind `@` in a text, each once: of rules, files and people. At most PROMPT_LIMITS.maxNames. */
export function mentionsIn(text: string): string[] {
  const names = new Set<string>();
  for (const [, name = ''] of text.matchAll(/(?<![\w@/.-])@([\w.][\w./-]*)/g)) {
    names.add(withoutEnd(name, './-'));
    if (names.size === PROMPT_LIMITS.maxNames) break;
  }
  return [...names];
}

function ruleTag(rule: RuleFile): string {
  return tagged('rule', `${nameInLine(rule.path)} (${scopeOf(rule)})\n${rule.text}`);
}

function scopeOf({ origin, kind, folder, globs = [], description }: RuleFile): string {
  if (origin === 'owner') return "the user's own";
  switch (kind) {
    case 'always':
      return 'for the whole workspace';
    case 'folder':
      return `for files in ${nameInLine(folder)}`;
    case 'glob':
      return `for ${nameInLine(globs.join(', '))}${folder === '.' ? '' : ` in ${nameInLine(folder)}`}`;
    case 'description':
      return nameInLine(description ?? '');
    case 'manual':
      return 'named by the user';
    default:
      return kind satisfies never;
  }
}

/** A line for each rule that the model reads when it needs it. */
function listOf({ files }: RuleSet): string {
  return files
    .filter(({ kind }) => kind === 'description')
    .map(({ path, description = '' }) => `${nameInLine(path)}: ${nameInLine(description)}`)
    .join('\n');
}
