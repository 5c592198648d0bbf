/** What every reader must know of a type of document. Without zod: a browser's bundle has it. */

interface DocumentFacts {
  /** Its text, which streams: Markdown, code in a language, or code at a place of a file. Null: it shows its metadata. */
  readonly text: 'prose' | 'code' | 'reference' | null;
  /** Which text of the answer its text belongs to: what the agent says, its reasoning, or neither. */
  readonly voice: 'answer' | 'reasoning' | null;
  /** Fields of the metadata of a tool call's document: a finished one has one of them. Null for other documents. */
  readonly finishedBy: readonly string[] | null;
}

/** A new type of document is one more row here, and what the type checker then asks for. */
const DOCUMENT_TYPES = {
  text: { text: 'prose', voice: 'answer', finishedBy: null },
  code_reference: { text: 'reference', voice: 'answer', finishedBy: null },
  code_block: { text: 'code', voice: 'answer', finishedBy: null },
  file_edit: { text: null, voice: null, finishedBy: ['diff'] },
  tool_call: { text: null, voice: null, finishedBy: [] },
  // A command that runs on in the background has no exit code.
  terminal_command: { text: null, voice: null, finishedBy: ['exitCode', 'duration_ms'] },
  plan: { text: 'prose', voice: 'answer', finishedBy: ['todos'] },
  clarification: { text: 'prose', voice: null, finishedBy: ['answers'] },
  error: { text: 'prose', voice: null, finishedBy: null },
  todo_update: { text: null, voice: null, finishedBy: ['todos'] },
  reasoning: { text: 'prose', voice: 'reasoning', finishedBy: null },
} as const satisfies Record<string, DocumentFacts>;

type KnownDocumentType = keyof typeof DOCUMENT_TYPES;

export const documentTypes = Object.keys(DOCUMENT_TYPES) as KnownDocumentType[];

/** The facts of a type. A type of a later version has nothing that this version can read; deltas may bring it a text. */
export function factsOf(type: string): DocumentFacts {
  return Object.hasOwn(DOCUMENT_TYPES, type) ? DOCUMENT_TYPES[type as KnownDocumentType] : UNKNOWN;
}

const UNKNOWN: DocumentFacts = { text: null, voice: null, finishedBy: null };

/** The info string of its code fence, as the model wrote it; null for a document without a fence. */
export function fenceInfoOf({ type, metadata = {} }: FencedDocument): string | null {
  const { startLine, endLine, filePath, language } = metadata;
  const { text } = factsOf(type);
  if (text === 'reference') return `${startLine}:${endLine}:${filePath}`;
  if (text !== 'code') return null;
  return language === UNNAMED ? '' : String(language);
}

interface FencedDocument {
  readonly type: string;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The language of a fence without an info string. */
const UNNAMED = 'plaintext';
