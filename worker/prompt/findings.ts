/** Tells the model, in one message only, what the message mentions and what others changed before it. Pure. */
import { cutLines } from '../../shared/cut-lines.ts';
import type { Attachment } from '../../shared/findings.ts';
import { nameInLine } from '../../shared/plain-sight.ts';
import type { RuleSet } from '../../shared/rules.ts';
import { tagged } from './escape.ts';
import { PROMPT_LIMITS } from './limits.ts';

/** `room` is the model's room for a prompt, in UTF-16 units. A file that is told as a rule is not attached again. */
export function tellFindings(
  findings:
    | { readonly attachments: readonly Attachment[]; readonly touched: readonly string[] }
    | undefined,
  rules: RuleSet | undefined,
  room: number,
): string[] {
  if (!findings) return [];
  const { touched, attachments } = findings;
  const names = touched.map(nameInLine).join('\n');
  const within = (maxChars: number) =>
    Math.min(maxChars, Math.floor(room * PROMPT_LIMITS.maxShare));
  const told = new Set(rules?.files.map(({ path }) => path));
  let left = within(PROMPT_LIMITS.maxAttachedChars);
  const attached = attachments.flatMap(({ type, name, text }) => {
    if (type === 'file' && told.has(name)) return [];
    const short = cutLines(text, left, 'use a tool to read them');
    left = Math.max(0, left - short.length);
    return [tagged(TAGS[type], `${nameInLine(name)}\n${short}`)];
  });
  const changed = cutLines(names, within(PROMPT_LIMITS.maxFileNamesChars), 'run git status');
  return [...(names === '' ? [] : [tagged('changed_files', changed)]), ...attached];
}

const TAGS: Readonly<Record<Attachment['type'], string>> = {
  file: 'attached_file',
  folder: 'attached_folder',
  url: 'attached_url',
  none: 'not_attached',
};
