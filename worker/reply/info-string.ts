/** The words behind a fence: what its code is. */
import { languageOf } from '../../shared/languages.ts';

/** A piece of a reply that becomes a document of the same type, with the metadata it starts with. */
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

/** `new_code` where nothing tells that it is an example or only proposed. */
export type Purpose = 'new_code' | 'example' | 'suggestion';

interface Fenced {
  /** Absent for the usual three. */
  readonly fenceLength?: number;
}

/** What else is known of a fence. */
export interface Surroundings {
  /** Characters of the fence. */
  readonly length?: number;
  /** The line of text right before it. */
  readonly lead?: string;
}

/** `12:14:src/main.py` is a reference, its path taken literally to the end; else the first word is the language. */
export function parseInfoString(
  info: string,
  { length = USUAL_LENGTH, lead = '' }: Surroundings = {},
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
  const language = text.split(/\s/, 1)[0] || 'plaintext';
  return { type: 'code_block', language, purpose: purposeOf(language, text, lead), ...fenced };
}

/** The words of the fence count most, then what its language is for, then the line that leads to it. */
function purposeOf(language: string, info: string, lead: string): Purpose {
  const named = NAMED_PURPOSE.exec(info)?.[1]?.toLowerCase();
  if (named !== undefined) return named === 'example' ? 'example' : 'suggestion';
  if (PROPOSING.has(language.toLowerCase())) return 'suggestion';
  if (SHOWING.has(language.toLowerCase())) return 'example';
  if (EXAMPLE_LEAD.test(lead)) return 'example';
  return SUGGESTION_LEAD.test(lead) ? 'suggestion' : 'new_code';
}

const NAMED_PURPOSE = /(?:^|\s)(example|suggestion|suggested)(?=\s|$)/i;
/** A change that is shown and not made. */
const PROPOSING: ReadonlySet<string> = new Set(['diff', 'patch']);
/** What a terminal shows. */
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

/** No file has more lines than nine digits count. */
const REFERENCE = /^(\d{1,9}):(\d{1,9}):(.+)$/s;
