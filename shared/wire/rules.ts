/** The rules that a bridge finds for the model: files of the workspace, and the owner's own file. */
import * as z from 'zod';
import { ResponseId } from '../ids.ts';
import { REQUEST_LIMITS, RULE_FILE_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { LeftOutSkill, Skill } from './skills.ts';

/**
 * When the model gets a rule. `always`: with the first message. `folder`: when a file in its folder is touched, unless a rule
 * file of the same name lies nearer to that file. `glob`: when a file is touched that one of its globs matches.
 * `description`: listed for the model, which reads it when it needs it. `manual`: when a message names it as `@name`.
 */
const RuleKind = z.enum(['always', 'folder', 'glob', 'description', 'manual']);
named.add(RuleKind, { id: 'RuleKind' });
export type RuleKind = z.infer<typeof RuleKind>;

const RuleOrigin = z.enum(['owner', 'workspace']);

const Note = z.string().max(RULE_FILE_LIMITS.maxNoteChars);
const Path = z.string().max(REQUEST_LIMITS.maxPathChars);

/** One rule with its text. It is untrusted data, except that the owner wrote the file with the origin `owner`. */
export const RuleFile = z.object({
  /** Relative to the workspace. The owner's file has its name in the state folder. */
  path: Path,
  origin: RuleOrigin,
  kind: RuleKind,
  /** The folder that the rule is about, relative to the workspace; `.` is the whole workspace. */
  folder: Path,
  /** Only for `glob`. A glob that begins with `!` takes matches out. */
  globs: z
    .array(z.string().max(RULE_FILE_LIMITS.maxGlobChars))
    .max(RULE_FILE_LIMITS.maxGlobs)
    .optional(),
  description: z.string().max(RULE_FILE_LIMITS.maxDescriptionChars).optional(),
  /** With the files that it includes. */
  text: z.string().max(RULE_FILE_LIMITS.maxRuleChars),
  /** What is wrong with the file or missing in the text, for people. */
  notes: z.array(Note).max(RULE_FILE_LIMITS.maxNotes).optional(),
});
export type RuleFile = z.infer<typeof RuleFile>;

/** A rule file that the model never gets. */
export const LeftOutRule = z.object({ path: Path, reason: Note });
named.add(LeftOutRule, { id: 'LeftOutRule' });
export type LeftOutRule = z.infer<typeof LeftOutRule>;

/** All rules of a bridge. Their order is the order in which the model gets them. */
export const RuleSet = z.object({
  files: z
    .array(RuleFile)
    .max(RULE_FILE_LIMITS.maxFiles)
    .refine((files) => lengthOf(files) <= RULE_FILE_LIMITS.maxTotalChars, 'too long together'),
  leftOut: z.array(LeftOutRule).max(RULE_FILE_LIMITS.maxLeftOut),
});
export type RuleSet = z.infer<typeof RuleSet>;

/** One rule, and what became of it in a run. */
export const RuleReport = RuleFile.omit({ text: true, origin: true }).extend({
  /** `request`: from the message's `context.rules`; `path` then names the entry. */
  origin: z.enum(['request', ...RuleOrigin.options]),
  /** A message that says `@name` applies the rule. */
  name: z.string(),
  /** `applied`: the model has the text. `listed`: the model knows what the rule is about. `unused`: it knows neither. */
  state: z.enum(['applied', 'listed', 'unused']),
  /**
   * Of an applied rule: it always applies; a `file` was touched or open; a message named it; the model read it.
   * `listed`: the model has not read it. Of an unused rule: no file that it is about was touched; no message named it.
   */
  reason: z.enum(['always', 'file', 'mentioned', 'read', 'listed', 'no_file', 'not_mentioned']),
  /** With the reason `file`. */
  file: z.string().optional(),
  /** UTF-16 units of its text. */
  chars: z.int().nonnegative(),
});
named.add(RuleReport, { id: 'RuleReport' });
export type RuleReport = z.infer<typeof RuleReport>;

/** One skill or command, and what became of it in the conversation. */
export const SkillReport = Skill.extend({
  /** `active`: the model has its text. `listed`: the model knows what it is about. */
  state: z.enum(['active', 'listed', 'unused']),
});
export type SkillReport = z.infer<typeof SkillReport>;

/** `GET conversations/{id}/rules`: the rules of the newest started response. */
export const RuleReports = z.object({
  /** Null before the first response. */
  responseId: ResponseId.nullable(),
  /** False where the run got no rules from a bridge. */
  isKnown: z.boolean(),
  /** In the order in which the model gets them. */
  rules: z.array(RuleReport),
  leftOut: z.array(LeftOutRule),
  /** The skills and commands, with those that were left out. */
  skills: z.array(SkillReport),
  leftOutSkills: z.array(LeftOutSkill),
});
named.add(RuleReports, { id: 'RuleReports' });
export type RuleReports = z.infer<typeof RuleReports>;

function lengthOf(files: readonly RuleFile[]): number {
  return files.reduce((sum, { text }) => sum + text.length, 0);
}

/** The name for `@name`: `.cursor/rules/web/forms.mdc` has the name `forms`. */
export function nameOfRule({ path }: Pick<RuleFile, 'path'>): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.mdc$/, '');
}
