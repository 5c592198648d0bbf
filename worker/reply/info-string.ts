/** The words behind a fence: what its code is. */
import { languageOf } from '../../shared/languages.ts';

/** A piece of a reply that becomes a document of the same type, with the metadata it starts with. */
export type Segment =
  | { readonly type: 'text' }
  | (Fenced & { readonly type: 'code_block'; readonly language: string })
  | (Fenced & {
      readonly type: 'code_reference';
      readonly filePath: string;
      readonly startLine: number;
      readonly endLine: number;
      readonly language: string;
    });

interface Fenced {
  /** Absent for the usual three. */
  readonly fenceLength?: number;
}

/** `12:14:src/main.py` is a reference, its path taken literally to the end; else the first word is the language. */
export function parseInfoString(info: string, length = USUAL_LENGTH): Segment {
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
  return { type: 'code_block', language: text.split(/\s/, 1)[0] || 'plaintext', ...fenced };
}

const USUAL_LENGTH = 3;

/** No file has more lines than nine digits count. */
const REFERENCE = /^(\d{1,9}):(\d{1,9}):(.+)$/s;
