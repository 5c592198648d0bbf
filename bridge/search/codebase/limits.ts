/** The limits of a search by meaning. */

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND = 1000;

/** Answering a question about a code base, all of it on the developer's machine. */
export const CODEBASE_LIMITS = {
  /** UTF-16 units of a question that are looked at: some 300 words, far more than people ask. */
  maxQuestionChars: 2_000,
  /** UTF-16 units of an identifier; what is longer is data, and may fill a file. */
  maxIdentifierChars: 200,
  /** Things one question can ask about; more is a pasted text, and its first words tell enough. */
  maxConcepts: 16,
  /** For finding the files that mention any of them; what was found by then is ranked. */
  findMs: 5 * SECOND,
  /** Bytes of a file that is looked into; source code that people write is shorter. */
  maxFileBytes: MIB,
  /** Matching lines counted in one file: further ones hardly change its rank. */
  maxHitLines: 100,
  /** Matching words counted in all files: about half a second. */
  maxHits: 400_000,
  /** The most promising files, which are read and ranked by their parts: about 0.1 s. */
  maxReadFiles: 80,
  maxReadBytes: 8 * MIB,
  /** Lines of one part of a file: a function or two, and what fits on a screen. */
  minChunkLines: 15,
  maxChunkLines: 60,
  /** Parts shown, and how many of them may be of one file, so that others have their say. */
  maxChunks: 12,
  maxChunksOfFile: 3,
} as const;
