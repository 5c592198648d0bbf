/** Collects the rules of one look: drops what is double or unusable, includes files, and cuts. */
import { requireOwnersFile } from '../../machine/owners-file.ts';
import { readPlainFile } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import type { Workspace } from '../../packages/workspace/index.ts';
import { REQUEST_LIMITS, RULE_FILE_LIMITS } from '../../shared/limits.ts';
import { cutNote } from '../../shared/text/cut-lines.ts';
import { nameInLine, shorten } from '../../shared/text/plain-sight.ts';
import type { LeftOutRule, RuleFile, RuleSet } from '../../shared/wire/rules.ts';
import type { RuleCandidate } from './find.ts';
import { readHead } from './frontmatter.ts';
import { RULE_READ_LIMITS } from './limits.ts';
import { withReferences } from './references.ts';
import type { FoundText, RuleTexts } from './texts.ts';

/** The name of the owner's files. */
export const OWNERS_FILE = 'rules.md';
const UNUSABLE = "an owner's file cannot be read, or other users may change it";

/** A rule before its references are included. `real` is its real path; null for the owner's file. */
interface RuleDraft extends RuleFile {
  readonly real: string | null;
}

/** Collects the rules of one look in their order, and brings them within their bounds. */
export class RuleGathering {
  readonly #workspace: Workspace;
  readonly #texts: RuleTexts;
  readonly #drafts: RuleDraft[] = [];
  readonly #leftOut: LeftOutRule[] = [];
  /** For a person to correct: files that cannot be used, and notes on others. */
  readonly problems: string[] = [];
  /** By the names that rules include. */
  readonly #included = new Map<string, FoundText>();

  constructor(workspace: Workspace, texts: RuleTexts) {
    this.#workspace = workspace;
    this.#texts = texts;
  }

  /** The files become one rule. */
  async addOwners(files: readonly string[]): Promise<void> {
    const texts: string[] = [];
    for (const file of files) {
      try {
        const text = (await readPlainFile(file)).trim();
        await requireOwnersFile(file);
        if (text !== '') texts.push(text);
      } catch (error) {
        if (!isSystemError(error, 'ENOENT', 'ENOTDIR')) this.leaveOut(OWNERS_FILE, UNUSABLE);
      }
    }
    if (texts.length === 0) return;
    const owners = { path: OWNERS_FILE, origin: 'owner', kind: 'always', folder: '.' } as const;
    this.#drafts.push({ ...owners, text: texts.join('\n\n'), real: null });
  }

  add(candidate: RuleCandidate, found: FoundText | undefined): void {
    const { path } = candidate;
    if (!found || found.state === 'none') return;
    if (found.state === 'unusable') return this.leaveOut(path, found.reason);
    const draft = { ...toRule(candidate, found.text), real: found.path };
    // CLAUDE.md is often a link to AGENTS.md, or a copy of it.
    const same = this.#drafts.find(
      (other) =>
        other.real === draft.real ||
        (other.text === draft.text && other.kind === draft.kind && other.folder === draft.folder),
    );
    if (same) return this.#leaveOut(path, `${same.path} is the same`);
    if (draft.text === '') return this.#leaveOut(path, 'it is empty');
    if (this.#drafts.length === RULE_FILE_LIMITS.maxFiles || !isNameable(path)) {
      return this.leaveOut(path, `only ${RULE_FILE_LIMITS.maxFiles} rules are read`);
    }
    this.#drafts.push(draft);
  }

  leaveOut(path: string, reason: string): void {
    this.problems.push(`${path}: ${reason}`);
    this.#leaveOut(path, reason);
  }

  #leaveOut(path: string, reason: string): void {
    if (this.#leftOut.length === RULE_FILE_LIMITS.maxLeftOut || !isNameable(path)) return;
    this.#leftOut.push({ path, reason: noteOf(reason) });
  }

  /** Includes references, and cuts. Rules that always apply are cut last. */
  async end(): Promise<RuleSet> {
    const rules: RuleFile[] = [];
    for (const draft of this.#drafts) rules.push(await this.#include(draft));
    let left: number = RULE_FILE_LIMITS.maxTotalChars;
    const cut = new Map<RuleFile, RuleFile>();
    const byNeed = [...rules].sort((a, b) => rank(a) - rank(b));
    for (const rule of byNeed) {
      const short = cutRule(rule, left);
      left -= short.text.length;
      cut.set(rule, short);
    }
    const files = rules.flatMap((rule) => cut.get(rule) ?? []);
    for (const { path, text } of files) {
      if (text === '') this.leaveOut(path, 'all rules together are too long');
    }
    for (const { path, notes = [] } of files) {
      this.problems.push(...notes.map((note) => `${path}: ${note}`));
    }
    return { files: files.filter(({ text }) => text !== ''), leftOut: this.#leftOut };
  }

  async #include({ real, ...rule }: RuleDraft): Promise<RuleFile> {
    const always = this.#drafts.filter(({ kind }) => kind === 'always');
    const sent = [real, ...always.map((other) => other.real)].filter((path) => path !== null);
    const { text, notes } = await withReferences(rule.text, {
      path: rule.origin === 'owner' ? null : rule.path,
      sent: new Set(sent),
      read: (name) => this.#readIncluded(name),
    });
    return withNotes({ ...rule, text }, notes);
  }

  /** Looks at each name once, and at a bounded number of names in all. */
  async #readIncluded(name: string): Promise<FoundText> {
    const known = this.#included.get(name);
    if (known) return known;
    if (this.#included.size === RULE_READ_LIMITS.maxIncluded) {
      return { state: 'unusable', reason: 'the rules include too many files' };
    }
    const found = await this.#texts.read(this.#workspace, name);
    this.#included.set(name, found);
    return found;
  }
}

function toRule({ path, folder, format }: RuleCandidate, text: string): RuleFile {
  const place = { path, folder, origin: 'workspace' } as const;
  if (format === 'plain') {
    return { ...place, kind: folder === '.' ? 'always' : 'folder', text: text.trim() };
  }
  const { body, problem, kind, globs, description } = readHead(text);
  const rule: RuleFile = {
    ...place,
    // A nested rule without a condition is about its own folder.
    kind: kind === 'always' && folder !== '.' ? 'folder' : kind,
    ...(globs && { globs }),
    ...(description !== undefined && { description }),
    text: body,
  };
  return problem === undefined ? rule : withNotes(rule, [`${problem}, so only @name applies it`]);
}

function withNotes(rule: RuleFile, notes: readonly string[]): RuleFile {
  const all = [...(rule.notes ?? []), ...notes.map(noteOf)];
  return all.length === 0 ? rule : { ...rule, notes: all.slice(0, RULE_FILE_LIMITS.maxNotes) };
}

function noteOf(text: string): string {
  return shorten(text, RULE_FILE_LIMITS.maxNoteChars);
}

function rank({ kind }: RuleFile): number {
  return kind === 'always' ? 0 : 1;
}

/** The rule within `left` UTF-16 units, cut after a whole line where it has one; without text where that leaves nothing. */
function cutRule(rule: RuleFile, left: number): RuleFile {
  const room = Math.min(left, RULE_FILE_LIMITS.maxRuleChars);
  const { length } = rule.text;
  if (length <= room) return rule;
  const most = room - MAX_CUT_CHARS;
  if (most <= 0) return { ...rule, text: '' };
  const line = rule.text.lastIndexOf('\n', most);
  const end = line > 0 ? line : most;
  const note = `only ${end} of ${length} characters are sent`;
  const cut = cutNote(length - end, `they are in ${nameInLine(rule.path)}`, 'character');
  const text = shorten(`${rule.text.slice(0, end)}\n${cut}`, room);
  return withNotes({ ...rule, text }, [note]);
}

/** More than the note of a cut takes, unless its path is very long. */
const MAX_CUT_CHARS = 200;

function isNameable(path: string): boolean {
  return path.length <= REQUEST_LIMITS.maxPathChars;
}
