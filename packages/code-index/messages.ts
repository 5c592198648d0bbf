/** The messages to the index's thread and back. Both ends are this program, so no message comes from outside. */
import type { NewVector, VectorCount } from './store.ts';

/** A chunk of a file and how well it answers. Lines are counted from 0; `end` is not part of it. */
export interface Hit {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly score: number;
}

/** What the thread can be asked, and what it answers. */
export interface IndexWork {
  /** Opens the index of a workspace, or makes it. */
  open: {
    readonly ask: { readonly path: string; readonly root: string; readonly parses: boolean };
    readonly answer: null;
  };
  /** Compares the index with these files, joined by NUL, and reads those that have changed. */
  update: { readonly ask: { readonly names: string }; readonly answer: UpdateReport };
  /** The best chunks in these folders and files; `.` is the whole workspace. */
  rank: {
    readonly ask: {
      readonly question: string;
      readonly places: readonly string[];
      readonly limit: number;
      /** The question's vector, for chunks that share no word with it. */
      readonly vector?: QuestionVector | undefined;
      /** As in IndexQuestion. */
      readonly needsWords?: boolean | undefined;
    };
    readonly answer: RankedChunk;
  };
  /** Texts of chunks without a vector of this embedder, in the order of their ids. Vectors of another one are deleted. */
  pending: {
    readonly ask: { readonly embedder: string; readonly after: number };
    readonly answer: Pending;
  };
  /** Keeps vectors. False where they do not have the length of those that are there: nothing is kept then. */
  keep: {
    readonly ask: { readonly embedder: string; readonly vectors: readonly NewVector[] };
    readonly answer: boolean;
  };
  /** Deletes all vectors. */
  forget: { readonly ask: null; readonly answer: null };
}

export interface QuestionVector {
  readonly embedder: string;
  readonly numbers: Float32Array;
  /** Milliseconds for the comparison with all others. The words alone answer after it. */
  readonly maxMs: number;
}

export interface RankedChunk {
  readonly hits: readonly Hit[];
  /** Whether the question's vector counted. `other` where the vectors of the chunks have another length. */
  readonly vector: 'used' | 'unused' | 'other';
}

export interface Pending {
  readonly texts: readonly PendingText[];
  /** The last chunk that was looked at; null after the last one of all. */
  readonly after: number | null;
  /** With the first chunk only: to count takes as long as to look at all of them. */
  readonly count?: VectorCount;
}

/** A chunk as its file has it now. */
export interface PendingText {
  readonly path: string;
  /** SHA-256 of the whole text. */
  readonly hash: string;
  readonly text: string;
}

export interface UpdateReport {
  readonly files: number;
  /** Files that are not in the index for a limit's sake. */
  readonly leftOut: number;
  readonly hasChanged: boolean;
}

export type IndexTask = keyof IndexWork;

export interface IndexOrder {
  readonly id: number;
  readonly task: IndexTask;
  readonly ask: unknown;
}

export type IndexNews =
  | { readonly id: number; readonly state: 'done'; readonly answer: unknown }
  | {
      readonly id: number;
      readonly state: 'failed';
      readonly message: string;
    }
  | { readonly id: number; readonly state: 'progress'; readonly done: number; readonly of: number };
