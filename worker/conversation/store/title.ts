/** The title of a conversation until a person renames it. */
import { ACCOUNT_LIMITS } from '../../../shared/limits.ts';
import { type MessageContent, textOf } from '../../../shared/requests.ts';

/** The first line that is not empty, cut at a character's end. */
export function titleOf(firstMessage: MessageContent): string {
  const lines = textOf(firstMessage).split('\n');
  const line = lines.find((candidate) => candidate.trim() !== '')?.trim() ?? 'Untitled';
  if (line.length <= ACCOUNT_LIMITS.maxTitleChars) return line;
  const cut = line.slice(0, ACCOUNT_LIMITS.maxTitleChars - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
