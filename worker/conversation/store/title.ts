/** The title of a conversation until a person renames it. */

import { type MessageContent, textOf } from '../../../shared/api/requests.ts';
import { ACCOUNT_LIMITS } from '../../../shared/limits.ts';

/** The first line that is not empty, cut at a character's end. */
export function titleOf(firstMessage: MessageContent): string {
  const lines = textOf(firstMessage).split('\n');
  return cutLine(lines.find((candidate) => candidate.trim() !== '')?.trim() ?? 'Untitled');
}

/** One plain line of a title that a model wrote, without marks around it and control characters; null if it is empty. */
export function plainTitle(written: string): string | null {
  const lines = written.split(/[\n\r\u2028\u2029]/).map((line) =>
    line
      .replace(/[\p{C}`]/gu, ' ')
      .replace(/\s+/g, ' ')
      .replace(/^[\s#>*_"'“„«-]*(?:title: ?)?[\s*_"'“„«]*/i, '')
      // The lookbehind: a run of marks in the middle is looked at once, and not from each of its marks.
      .replace(/(?<![\s*_"'”“».])[\s*_"'”“».]+$/, ''),
  );
  const line = lines.find((candidate) => candidate !== '');
  return line === undefined ? null : cutLine(line);
}

function cutLine(line: string): string {
  if (line.length <= ACCOUNT_LIMITS.maxTitleChars) return line;
  const cut = line.slice(0, ACCOUNT_LIMITS.maxTitleChars - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
