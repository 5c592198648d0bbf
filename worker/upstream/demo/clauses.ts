/** A request in plain words, cut into its single wishes; what is quoted is never cut and never taken for words. */

/** One wish, with its quoted parts set aside. */
export interface Clause {
  /** Each quoted part is one mark, which counts as a word. */
  readonly text: string;
  /** A piece of `text` as the user wrote it. */
  readonly raw: (piece: string) => string;
  /** A piece of `text` as it is meant: without the quotes, where it is one quoted part. */
  readonly value: (piece: string) => string;
}

/** Cuts before every verb that follows a line end, a punctuation mark or an "and then". */
export function splitClauses(query: string): Clause[] {
  const { text, parts } = setQuotesAside(query);
  const restore = (piece: string, form: 'raw' | 'inner') =>
    piece.replaceAll(MARK, (_, index: string) => parts[Number(index)]?.[form] ?? '');
  return text
    .replaceAll(LIST_MARKER, '')
    .split(SEPARATOR)
    .map((clause) => clause.replace(OPENING, '').replace(CLOSING, '').trim())
    .filter((clause) => clause !== '')
    .map((clause) => ({
      text: clause,
      raw: (piece) => restore(piece, 'raw'),
      value: (piece) => restore(piece, ONE_MARK.test(piece.trim()) ? 'inner' : 'raw'),
    }));
}

/** A quoted part, between two characters of Unicode's private use. */
const MARK = /\uE000(\d+)\uE001/g;
const ONE_MARK = /^\uE000\d+\uE001$/;
const PRIVATE_USE = /[\uE000\uE001]/g;

const FENCE = /^[ \t]*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)\n?[ \t]*\1[ \t]*$/gm;
/** A single quote inside a word is an apostrophe. */
const QUOTE = /`([^`\n]+)`|"([^"\n]*)"|“([^”\n]*)”|(?<!\w)'([^'\n]*)'(?!\w)/g;

const VERBS =
  'read|show|open|cat|print|display|view|list|ls|find|locate|search|grep|look|create|write|make|add|' +
  'replace|change|delete|remove|run|execute|explain|describe|summari[sz]e|what|where|how does|tell|give';
const CONNECTOR = '(?:and|then|also|after that|afterwards|finally|next|now|please),?';
const SEPARATOR = new RegExp(
  `(?:(?:\\s*\\n\\s*|[;,.!?]+\\s+)(?:${CONNECTOR}\\s+)*|(?:\\s+(?:and|then|and then))+\\s+(?:${CONNECTOR}\\s+)*)` +
    `(?=(?:${VERBS})\\b)`,
  'i',
);
const LIST_MARKER = /^[ \t]*(?:\d+[.)]|[-*•])[ \t]+/gm;

const OPENING =
  /^(?:(?:please|can you|could you|would you|will you|i want you to|i would like you to|i'd like you to|let's|first|now|next|then|finally|also|and|ok|okay|hi|hello|hey)\b[\s,:!]*)+/i;
/** A full stop ends a sentence only where it ends a word: in `ls .` it is the folder. */
const CLOSING = /(?:[\s,]+(?:please|for me|thanks|thank you))*(?<=[\w\uE001)/*])[.!?]*\s*$/i;

interface Part {
  readonly raw: string;
  readonly inner: string;
}

function setQuotesAside(query: string): { text: string; parts: Part[] } {
  const parts: Part[] = [];
  const setAside = (raw: string, inner: string) => `\uE000${parts.push({ raw, inner }) - 1}\uE001`;
  const text = query
    .replaceAll(PRIVATE_USE, '')
    .replaceAll(FENCE, (raw: string, _, body: string) => setAside(raw, `${body}\n`))
    .replaceAll(QUOTE, (raw: string, ...inner: (string | undefined)[]) =>
      setAside(raw, inner.slice(0, QUOTE_FORMS).find((form) => form !== undefined) ?? ''),
    );
  return { text, parts };
}

/** The groups of {@link QUOTE}. */
const QUOTE_FORMS = 4;
