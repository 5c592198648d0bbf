/** Finds the code that a message is about, for the prompt. */
import { FINDING_LIMITS } from '../../shared/limits.ts';
import type { MessageLook } from '../../shared/wire/findings.ts';
import type { Mode } from '../../shared/wire/modes.ts';
import type { Workspace } from '../workspace/index.ts';
import { INDEX_LIMITS } from './limits.ts';
import type { Passage } from './search/codebase/passages.ts';
import { conceptsOf, isWeak } from './search/codebase/question.ts';
import { searchIndexed } from './search/codebase-search.ts';
import type { SearchIndex } from './search/search-index.ts';
import { showPassage } from './tool.ts';

/** A message that may be about code. */
export interface CodeLook {
  readonly search: MessageLook['search'];
  /** What the model may get without having asked. */
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

export interface CodeFinding {
  readonly index: SearchIndex;
  /** The modes in which the owner wants it. */
  readonly modes: readonly Mode[];
}

/** Undefined where there is none: a look never waits for code longer than INDEX_LIMITS.codeMs. */
export async function findCode(
  { index, modes }: CodeFinding,
  { search, workspace, signal }: CodeLook,
): Promise<string[] | undefined> {
  if (!search || !modes.includes(search.mode) || !asksForCode(search.query)) return undefined;
  const late = AbortSignal.timeout(INDEX_LIMITS.codeMs);
  const inTime = AbortSignal.any([signal, late]);
  try {
    const place = await workspace.resolve('.', 'read');
    const { query: question, isPrivate = false } = search;
    const waitMs = INDEX_LIMITS.vectorWaitMs;
    // Something is always nearest, also to a message about no code.
    const how = { isPrivate, waitMs, needsWords: true, signal: inTime };
    const looked = { question, place, workspace, index, ...how };
    const found = await Promise.race([searchIndexed(looked), aborted(inTime)]);
    const texts = found ? textsOf(found.passages) : [];
    return texts.length === 0 ? undefined : texts;
  } catch (error) {
    if (inTime.aborted) return undefined;
    throw error;
  }
}

/** "Yes", "go on" and "do it again" are about no code. */
function asksForCode(query: string): boolean {
  const telling = conceptsOf(query).filter((concept) => !isWeak(concept));
  return telling.length >= INDEX_LIMITS.leastConcepts;
}

/** No more than the prompt has room for; a passage is cut where it would leave too little for the next ones. */
function textsOf(passages: readonly Passage[]): string[] {
  const texts: string[] = [];
  let left: number = FINDING_LIMITS.maxPassageChars;
  for (const passage of passages.slice(0, FINDING_LIMITS.maxPassages)) {
    const text = showPassage(passage, left * INDEX_LIMITS.codeShare);
    if (text === null) break;
    texts.push(text);
    left -= text.length + 2;
  }
  return texts;
}

async function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
