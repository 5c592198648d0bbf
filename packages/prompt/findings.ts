/** Gives the model, in one message only, what the message mentions and what was changed before it. Pure. */
import { cutLines, cutNote } from '../../shared/text/cut-lines.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { Attachment, Findings } from '../../shared/wire/findings.ts';
import type { RuleSet } from '../../shared/wire/rules.ts';
import { nameWithin } from './editor.ts';
import { tagged } from './escape.ts';
import { PROMPT_LIMITS } from './limits.ts';
import { ACTIVE_ALREADY, type ActiveSkills, isActive, skillAttached } from './skills.ts';
import type { Sources } from './surroundings.ts';

/** The findings that are sent with one message only. */
interface FoundOnce extends Pick<Findings, 'touched' | 'unnamed' | 'passages'> {
  readonly attachments: readonly Attachment[];
}

/** What the model has already, which is not attached again. */
interface AlreadySent {
  readonly rules: RuleSet | undefined;
  readonly skills: ActiveSkills;
}

/** `room` is the model's room for a prompt, in UTF-16 units. */
export function renderFindings(
  findings: FoundOnce | undefined,
  { rules, skills }: AlreadySent,
  room: number,
): string[] {
  if (!findings) return [];
  const { touched, attachments, unnamed, passages } = findings;
  const more = unnamed === undefined ? [] : [cutNote(unnamed, 'run git status', 'file')];
  const names = [...touched.map(nameInLine), ...more].join('\n');
  const within = (maxChars: number) =>
    Math.min(maxChars, Math.floor(room * PROMPT_LIMITS.maxShare));
  const sent = new Set(rules?.files.map(({ path }) => path));
  let left = within(PROMPT_LIMITS.maxAttachedChars);
  const attached = attachments.flatMap((attachment) => {
    const { type, name, text } = attachment;
    if (type === 'file' && sent.has(name)) return [];
    const skill = skillAttached(attachment);
    if (skill) {
      const shown = isActive(skills, skill) ? ACTIVE_ALREADY : text;
      return [tagged(TAGS[type], `/${nameInLine(name)}\n${shown}`)];
    }
    const short = cutLines(text, left, 'use a tool to read them');
    left = Math.max(0, left - short.length);
    return [tagged(TAGS[type], `${nameInLine(name)}\n${short}`)];
  });
  const changed = cutLines(names, within(PROMPT_LIMITS.maxFileNamesChars), 'run git status');
  const code = cutLines(passages?.join('\n\n') ?? '', within(PROMPT_LIMITS.maxPassagesChars));
  return [
    ...(names === '' ? [] : [tagged('changed_files', changed)]),
    ...(code === '' ? [] : [tagged('found_code', code)]),
    ...attached,
  ];
}

/** What the user changed since the last message, as the request shows it, without files that the bridge reports. */
export function renderEditHistory(
  { context, machine, findings }: Omit<Sources, 'createdMs'>,
  room: number,
): string[] {
  const known = new Set(findings?.changed.map(({ path }) => path));
  const root = machine?.workspacePath.replace(/\/+$/, '');
  const edits = (context?.editHistory ?? []).filter(
    ({ path }) => !known.has(nameWithin(path, root)),
  );
  if (edits.length === 0) return [];
  const lines = edits.flatMap(({ path, diff }) => [nameInLine(path), ...(diff ? [diff] : [])]);
  const { maxChangedChars, maxShare } = PROMPT_LIMITS;
  const maxChars = Math.min(maxChangedChars, Math.floor(room * maxShare));
  return [tagged('edit_history', cutLines(lines.join('\n'), maxChars, 'read the files'))];
}

const TAGS: Readonly<Record<Attachment['type'], string>> = {
  file: 'attached_file',
  folder: 'attached_folder',
  url: 'attached_url',
  skill: 'skill',
  command: 'command',
  none: 'not_attached',
};
