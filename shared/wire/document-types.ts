/** What every reader must know of a type of document. Without zod: a browser's bundle has it. */

interface DocumentFacts {
  /** Whether it has a text, which streams. The others show their metadata. */
  readonly hasText: boolean;
  /** Which text of the answer its text belongs to: what the agent says, its reasoning, or neither. */
  readonly voice: 'answer' | 'reasoning' | null;
  /** For the document of a tool's call: fields of the metadata, of which a finished document has one. Else null. */
  readonly finishedBy: readonly string[] | null;
}

/** A new type of document is one more row here, and what the type checker then asks for. */
const DOCUMENT_TYPES = {
  text: { hasText: true, voice: 'answer', finishedBy: null },
  code_reference: { hasText: true, voice: 'answer', finishedBy: null },
  code_block: { hasText: true, voice: 'answer', finishedBy: null },
  file_edit: { hasText: false, voice: null, finishedBy: ['diff'] },
  tool_call: { hasText: false, voice: null, finishedBy: [] },
  // A command that runs on in the background has no exit code.
  terminal_command: { hasText: false, voice: null, finishedBy: ['exitCode', 'duration_ms'] },
  plan: { hasText: true, voice: 'answer', finishedBy: ['todos'] },
  clarification: { hasText: true, voice: null, finishedBy: ['answers'] },
  error: { hasText: true, voice: null, finishedBy: null },
  todo_update: { hasText: false, voice: null, finishedBy: ['todos'] },
  reasoning: { hasText: true, voice: 'reasoning', finishedBy: null },
} as const satisfies Record<string, DocumentFacts>;

type KnownDocumentType = keyof typeof DOCUMENT_TYPES;

export const documentTypes = Object.keys(DOCUMENT_TYPES) as KnownDocumentType[];

/** The facts of a type. A type of a later version has nothing that this version can read; deltas may bring it a text. */
export function factsOf(type: string): DocumentFacts {
  return Object.hasOwn(DOCUMENT_TYPES, type) ? DOCUMENT_TYPES[type as KnownDocumentType] : UNKNOWN;
}

const UNKNOWN: DocumentFacts = { hasText: false, voice: null, finishedBy: null };
