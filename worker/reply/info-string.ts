/** Reads a fence's info string: the language and purpose of its code, or the place in a file that it shows. */
import { languageOf } from '../../shared/text/languages.ts';

/** A piece of a reply. It becomes a document of the same type, with this metadata. */
export type Segment =
  | { readonly type: 'text' }
  | (Fenced & { readonly type: 'code_block'; readonly language: string; readonly purpose: Purpose })
  | (Fenced & {
      readonly type: 'code_reference';
      readonly filePath: string;
      readonly startLine: number;
      readonly endLine: number;
      readonly language: string;
    });

/** `new_code`, unless something marks the code as an example or a suggestion. */
export type Purpose = 'new_code' | 'example' | 'suggestion';

interface Fenced {
  /** Absent for the usual length of three. */
  readonly fenceLength?: number;
}

/** The fence's length and the text before it. */
export interface FenceSurroundings {
  /** Characters of the fence. */
  readonly length?: number;
  /** The line of text right before it. */
  readonly lead?: string;
}

/** `12:14:src/main.py` is a reference, whose path runs to the end. Otherwise the first word begins with the language. */
export function parseInfoString(
  info: string,
  { length = USUAL_LENGTH, lead = '' }: FenceSurroundings = {},
): Segment {
  const text = info.trim();
  const fenced = length > USUAL_LENGTH ? { fenceLength: length } : {};
  const [, start, end, filePath] = REFERENCE.exec(text) ?? [];
  if (filePath !== undefined) {
    const lines = { startLine: Number(start), endLine: Number(end) };
    return {
      type: 'code_reference',
      filePath,
      ...lines,
      language: languageOf(filePath),
      ...fenced,
    };
  }
  const [word = ''] = text.split(/\s/, 1);
  const language = LANGUAGE.exec(word)?.[1] ?? (word || 'plaintext');
  return { type: 'code_block', language, purpose: purposeOf(language, text, lead), ...fenced };
}

/** Decides by the words of the info string, then by the language, then by the line before the fence. */
function purposeOf(language: string, info: string, lead: string): Purpose {
  const named = NAMED_PURPOSE.exec(info)?.[1]?.toLowerCase();
  if (named !== undefined) return named === 'example' ? 'example' : 'suggestion';
  if (PROPOSING.has(language.toLowerCase())) return 'suggestion';
  if (SHOWING.has(language.toLowerCase())) return 'example';
  if (EXAMPLE_LEAD.test(lead)) return 'example';
  return SUGGESTION_LEAD.test(lead) ? 'suggestion' : 'new_code';
}

const NAMED_PURPOSE = /(?:^|\s)(example|suggestion|suggested)(?=\s|$)/i;
/** Languages that show a change. */
const PROPOSING: ReadonlySet<string> = new Set(['diff', 'patch']);
/** Languages that show a terminal. */
const SHOWING: ReadonlySet<string> = new Set([
  'console',
  'shell-session',
  'shellsession',
  'output',
]);
const EXAMPLE_LEAD = /\b(?:examples?|for instance|e\.g\.|usage|beispiel\w*|z\. ?b\.)/i;
const SUGGESTION_LEAD =
  /\b(?:suggest\w*|propos(?:e|es|ed|al)|recommend\w*|could|instead|vorschlag\w*|könnte\w*)\b/i;

const USUAL_LENGTH = 3;

/** A language with more in the same word: `python:src/main.py`, `rust,ignore`, `ts{1,3}`. Not the drive of a path. */
const LANGUAGE = /^([a-z][\w+#-]*)(?::(?!\\|\/\/)|[,{])/i;

/** Nine digits count the lines of any file. */
const REFERENCE = /^(\d{1,9}):(\d{1,9}):(.+)$/s;
