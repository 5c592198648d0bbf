/** Runs codebase_search: finds the passages of the code that answer a question best, and shows their lines. */

import { cutLine } from '../../machine/result-lines.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { codebaseSearch } from '../../shared/tools/codebase-search.ts';
import { numberLine } from '../edits/text.ts';
import { type ArgumentsOf, type BridgeTool, doing, type ToolExecutor } from '../host/index.ts';
import type { ResolvedPath } from '../workspace/index.ts';
import { CODEBASE_LIMITS } from './search/codebase/limits.ts';
import type { Passage } from './search/codebase/passages.ts';
import { type SearchAnswer, searchCodebase } from './search/codebase-search.ts';
import { withRuleNotes } from './search/rule-notes.ts';
import type { SearchIndex } from './search/search-index.ts';

/** The tool, with the index of the workspace where there is one. */
export function codebaseSearching(index?: SearchIndex): BridgeTool {
  return doing(codebaseSearch, withRuleNotes(executeWith(index)));
}

/** A shown passage does not count as read: an edit needs the file itself. */
function executeWith(
  index: SearchIndex | undefined,
): ToolExecutor<ArgumentsOf<typeof codebaseSearch>> {
  return async ({ query: question }, { workspace, places, signal, isPrivate = false }) => {
    const answers: SearchAnswer[] = [];
    const asked = { question, workspace, index, isPrivate, signal };
    for (const place of withoutInner(places)) {
      answers.push(await searchCodebase({ ...asked, place }));
    }
    return { status: 'success', data: showAnswer(joined(answers)) };
  };
}

/** Drops a place inside another one, because the outer search covers it. */
function withoutInner(places: readonly ResolvedPath[]): ResolvedPath[] {
  const unique = [...new Map(places.map((place) => [place.path, place])).values()];
  return unique.filter(({ path }) =>
    unique.every((other) => other.path === path || !path.startsWith(`${other.path}/`)),
  );
}

/** The best passage of each place first, then the second of each. Scores of different places cannot be compared. */
function joined(answers: readonly SearchAnswer[]): SearchAnswer {
  const longest = Math.max(...answers.map(({ passages }) => passages.length));
  const ranks = Array.from({ length: longest }, (_, rank) => rank);
  return {
    passages: ranks.flatMap((rank) => answers.flatMap(({ passages }) => passages[rank] ?? [])),
    isAll: answers.every(({ isAll }) => isAll),
    files: answers.reduce((sum, { files }) => sum + files, 0),
    isComplete: answers.every(({ isComplete }) => isComplete),
    byMeaning: answers.some(({ byMeaning }) => byMeaning),
    isWhole: answers.every(({ isWhole }) => isWhole),
  };
}

/** As many passages as one result may hold. A passage is cut where it would leave too little room for the next ones. */
function showAnswer(answer: SearchAnswer): string {
  const texts: string[] = [];
  let left: number = CODEBASE_LIMITS.maxAnswerChars;
  for (const [index, passage] of answer.passages.entries()) {
    const isLast = index === answer.passages.length - 1;
    const share = Math.max(left * CODEBASE_LIMITS.passageShare, CODEBASE_LIMITS.minPassageChars);
    const text = showPassage(passage, isLast ? left : Math.min(left, share));
    if (text === null) break;
    texts.push(text);
    left -= text.length + SEPARATOR.length;
  }
  const shown = answer.passages.slice(0, texts.length);
  return [...texts, summarize(answer, shown)].join(SEPARATOR);
}

const SEPARATOR = '\n\n';

/** `path:first-last` and as many lines as fit, without blank lines at the end; null when none fits. */
export function showPassage(passage: Passage, room: number): string | null {
  const { start } = passage;
  const name = nameInLine(passage.name);
  const lines: string[] = [];
  let chars = name.length + ROOM_FOR_RANGE;
  for (const [index, line] of withoutBlankEnd(passage.lines).entries()) {
    const numbered = numberLine(start + index + 1, cutLine(line));
    chars += numbered.length + 1;
    if (chars > room) break;
    lines.push(numbered);
  }
  if (lines.length === 0) return null;
  return [`${name}:${start + 1}-${start + lines.length}`, ...lines].join('\n');
}

function withoutBlankEnd(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1);
}

/** Characters of `:first-last` for any file that is read. */
const ROOM_FOR_RANGE = 24;

function summarize(answer: SearchAnswer, shown: readonly Passage[]): string {
  const sentences = [
    shown.length === 0 ? NOTHING_FOUND : countPlaces(shown.length, answer.byMeaning),
    ...(answer.isComplete ? [] : [STOPPED]),
    ...(answer.isWhole ? [] : [CUT]),
    ...leftOut(answer, shown),
  ];
  return `(${sentences.join(' ')})`;
}

const NOTHING_FOUND =
  'Nothing found. Ignored files are not searched. Ask with other words, or look for an exact name with grep.';

const CUT = `Only the first ${CODEBASE_LIMITS.maxQuestionChars} characters of the question were looked at: ask a shorter one.`;

const STOPPED = 'The search was stopped before it had seen every file: name a directory.';

/** Says that there are more matches, and how to see them. */
function leftOut({ passages, files, isAll }: SearchAnswer, shown: readonly Passage[]): string[] {
  const more = files - new Set(shown.map(({ name }) => name)).size;
  if (shown.length === 0) return [];
  if (more > 0) {
    const which = more === 1 ? '1 more file mentions' : `${more} more files mention`;
    return [`${which} some of them: narrow the directory or ask more exactly to see others.`];
  }
  if (isAll && shown.length === passages.length) return [];
  return [
    'Other parts of these files mention some of them too: ask more exactly, or use read_file.',
  ];
}

function countPlaces(count: number, byMeaning: boolean): string {
  const places = count === 1 ? '1 place' : `${count} places, the best first`;
  const how = byMeaning ? 'by the words and the meaning' : 'by the words';
  return `${places}: found ${how} of the question.`;
}
