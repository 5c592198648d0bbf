/** How a mention is written. Has no schema, so that a web page can use it; mentions.ts reads whole messages. */
import { FILE_SEARCH_LIMITS } from '../limits.ts';

/** Patterns of the `@` where no word ends, and of a path without quotes. */
export const MENTION_SIGN = '(?<![\\p{L}\\p{N}_@/.-])@';
export const BARE_FIRST = '[\\p{L}\\p{N}_./~]';
export const BARE_NEXT = '[\\p{L}\\p{N}_./~@+[\\]-]';

/** A mention that is being written. */
export interface OpenMention {
  /** Where its `@` is. */
  readonly at: number;
  /** What is written behind it, without quotes. */
  readonly query: string;
}

/** The mention that a person is writing, by the text before the cursor. */
export function openMention(before: string): OpenMention | undefined {
  const near = before.slice(-2 * FILE_SEARCH_LIMITS.maxQueryChars);
  const { index, groups } = OPEN.exec(near) ?? {};
  if (index === undefined) return undefined;
  const query = groups?.['quoted'] ?? groups?.['bare'] ?? '';
  return { at: before.length - near.length + index, query };
}

const LENGTH = `{0,${FILE_SEARCH_LIMITS.maxQueryChars}}`;
const OPEN = new RegExp(
  `${MENTION_SIGN}(?:"(?<quoted>[^"\\n]${LENGTH})|(?<bare>(?!@)${BARE_NEXT}${LENGTH}))$`,
  'u',
);

/** The mention of a path, in quotes where it needs them. A path with `"` or a line end has none. */
export function mentionOf(path: string): string {
  return BARE.test(path) ? `@${path}` : `@"${path}"`;
}

/** At the end of a path without quotes, a full stop or a bracket may belong to the sentence. */
const BARE = new RegExp(`^${BARE_FIRST}${BARE_NEXT}*(?<![.\\]-])$`, 'u');
