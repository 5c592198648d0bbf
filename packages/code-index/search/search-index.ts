/** What a search wants of an index. The index beside this folder is one. */

import type { Workspace } from '../../workspace/index.ts';
import type { FileChunk } from './codebase/chunks.ts';

export interface SearchIndex {
  /** Undefined where the index cannot answer: the files themselves are searched then. Never rejects. */
  find(question: IndexQuestion): Promise<FoundChunks | undefined>;
}

export interface IndexQuestion {
  /** The view of the workspace whose files may be shown. */
  readonly workspace: Workspace;
  readonly question: string;
  /** Folders and files, relative to the workspace; `.` is all of it. */
  readonly places: readonly string[];
  /** The most chunks that are found. */
  readonly limit: number;
  /** Whether the question is of a private conversation: only a private server may get it. */
  readonly isPrivate: boolean;
  /** Milliseconds for the question's vector and its comparison with others. The words alone answer after them. */
  readonly waitMs: number;
  /** Whether only chunks that share a word with the question are found. The vector orders them then. */
  readonly needsWords?: boolean | undefined;
}

export interface FoundChunks {
  /** The best first. A chunk's lines are those of the file as it was a moment ago. */
  readonly chunks: readonly FoundChunk[];
  /** False where the index has not every file. */
  readonly isWhole: boolean;
  /** Whether vectors counted too, and not the words alone. */
  readonly byMeaning: boolean;
}

export interface FoundChunk extends FileChunk {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  /** Comparable within one question only. */
  readonly score: number;
}
