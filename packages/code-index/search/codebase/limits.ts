/** The limits of a search by meaning. */
import { MIB, SECOND } from '../../../../shared/units.ts';

/** Limits for answering a question about a code base. All work is done on the developer's machine. */
export const CODEBASE_LIMITS = {
  /** UTF-16 units of a question that are used: some 300 words, far more than people ask. */
  maxQuestionChars: 2_000,
  /** UTF-16 units of an identifier. A longer one is data, and may fill a file. */
  maxIdentifierChars: 200,
  /** Concepts of one question. More come from pasted text, whose first words are enough. */
  maxConcepts: 16,
  /** Milliseconds for finding the files that mention a concept. The files found by then are ranked. */
  findMs: 5 * SECOND,
  /** Bytes of a file that is searched. Source code that people write is shorter. */
  maxFileBytes: MIB,
  /** Matching lines counted in one file. Further ones hardly change its rank. */
  maxHitLines: 100,
  /** Matching words counted in all files: about half a second. */
  maxHits: 400_000,
  /** The most promising files, which are read and ranked by their chunks: about 0.1 s. */
  maxReadFiles: 80,
  maxReadBytes: 8 * MIB,
  /** Chunks that an index finds, and the files of them that are read: more than are shown. */
  maxRankedChunks: 40,
  maxIndexedFiles: 16,
  maxIndexedBytes: 2 * MIB,
  /** Files that are read at once: one after the other takes three times as long. */
  readsAtOnce: 8,
  /** Milliseconds for the vector of a question (servers take 0.05 to 0.5 s) and its comparison (0.4 s at most). */
  vectorWaitMs: 2 * SECOND,
  /** Lines of one chunk: a function or two, and as many as fit on a screen. */
  minChunkLines: 15,
  maxChunkLines: 60,
  /** Chunks shown, and how many of them may come from one file, so that other files are shown too. */
  maxChunks: 12,
  /** UTF-16 units of an answer without its last sentence: 2,000 tokens. Code takes a token for three characters. */
  maxAnswerChars: 5_700,
  /** The part of the room that is left which one passage may take, and what it may take in any case. */
  passageShare: 0.4,
  minPassageChars: 1_000,
  maxChunksOfFile: 3,
} as const;
