/** The limits of the index of a workspace's text. */
import { KIB, MIB, MINUTE, SECOND } from '../../shared/units.ts';

export const INDEX_LIMITS = {
  /** Milliseconds from the bridge's connection to the first look: a chat begins meanwhile. */
  startDelayMs: 500,
  /** Files in the index, and bytes of them all: a database of some 200 MB. Code comes before documents and data. */
  maxFiles: 60_000,
  maxBytes: 256 * MIB,
  /** Bytes of one file, as in CODEBASE_LIMITS: source code that people write is shorter. */
  maxFileBytes: MIB,
  /** UTF-16 units of a chunk: some 400 tokens, a function or two. */
  maxChunkChars: 1_500,
  /** Chunks of one file: those of the longest file that people write. */
  maxChunks: 1_000,
  /** Nodes of a tree that are visited for its chunks. A file with more is cut by its lines. */
  maxNodes: 50_000,
  /** Milliseconds for the parsing of one file: the longest takes some 300. A file that takes longer is cut by its lines. */
  parseMs: 2 * SECOND,
  /** Megabytes of the thread's heap. The parser's own memory comes on top, and goes with the thread. */
  maxHeapMb: 192,
  /** Files that are written in one transaction: a search waits for it some milliseconds. */
  filesPerWrite: 64,
  /** Milliseconds without work after which the thread ends. A new one opens the index in 100 ms. */
  idleMs: MINUTE,
  /** Files up to which each search waits for a look at what has changed, and the milliseconds for which it waits. */
  maxFreshFiles: 10_000,
  freshMs: SECOND,
  /** Milliseconds between two looks at more files than that. */
  restMs: 5 * SECOND,
  /** Milliseconds for one search. The search over the files themselves answers after it. */
  searchMs: 2 * SECOND,
  /** Milliseconds for the code that a message is about: a run waits for a look for 300 in all. */
  codeMs: 200,
  /** Milliseconds of them for the message's vector and its comparison, so that the words alone can still answer. */
  vectorWaitMs: 150,
  /** Telling words of a message that asks for code. */
  leastConcepts: 2,
  /** The part of the room that is left which one passage may take. */
  codeShare: 0.4,
  /** A word in more chunks than this only counts for chunks that other words of the question have found. */
  maxRows: 12_000,
  /** Chunks found by words whose files' names are looked at, too: more would take milliseconds. */
  maxNamed: 500,
  /** Words of the index that begin like one of the question, and count for it. */
  maxBeginnings: 8,
  /** Words whose counts are remembered until the next change. */
  maxCounted: 10_000,
  /** Chunks that the thread returns, and files of them that it compares with the disk: an answer shows twelve. */
  maxHits: 60,
  maxChecked: 20,
  /** Chunks that it returns where the first ones may mostly not be shown. */
  maxMoreHits: 1_000,
  /** Milliseconds between two reports on the progress. */
  progressMs: 250,
  /** Failures after which the workspace stays without an index until the bridge starts again. */
  maxFailures: 3,
  /** Words of a chunk that is stored: a line of data can have many more. */
  maxWords: 2_000,
  /** Different identifiers whose words are remembered. */
  maxKnownWords: 50_000,
  /** Bytes in which a statement of the database may keep pages. */
  cacheKib: 8 * KIB,
  /** Chunks with a vector: at 1,536 numbers a database of 85 MB more, which one search reads in 0.25 to 0.4 s. */
  maxVectors: 40_000,
  /** Vectors without a chunk that are kept, for code that comes back with another branch. */
  maxSpareVectors: 5_000,
  /** Numbers of a vector: the largest models have 4,096. */
  maxDimensions: 4_096,
  /** UTF-16 units of a chunk that are sent, and chunks of one request: a small server on a CPU takes seconds for them. */
  maxSentChars: 2_000,
  maxInputs: 32,
  /** Bytes of the answer: 32 vectors of the largest models, with 20 digits for each number. */
  maxAnswerBytes: 4 * MIB,
  /** Milliseconds for one request with chunks, and for one with a question. */
  chunksMs: 2 * MINUTE,
  questionMs: 10 * SECOND,
  /** Milliseconds from a change of files to the request: an editor saves often. */
  embedDelayMs: SECOND,
  /** Milliseconds before another attempt, which double with each failure, and the most, also where the server asks for more. */
  retryMs: SECOND,
  maxRetryMs: 10 * MINUTE,
  /** Failures in a row after which people see the reason. The attempts go on. */
  shownFailures: 3,
  /** Chunks that the server refuses in a row, none accepted between them, before it gets no more. */
  maxRefused: 5,
  /** Times that the vectors may begin anew because the server's have another length. */
  maxRestarts: 2,
  /** Milliseconds after a question that got no vector in which the next ones ask for none. */
  questionRestMs: 30 * SECOND,
  /** Questions whose vectors are remembered: a call asks for each of its folders. */
  maxQuestions: 16,
  /** The share of the chunks that may be without a vector while vectors rank: others would be hard to find. */
  maxUnembedded: 0.1,
  /** Milliseconds between two looks at whether texts that the rules held back may be sent now. */
  heldBackMs: MINUTE,
  /** The least chunks by words that are joined with the nearest ones, and how many times as many of those there are. */
  minFused: 50,
  nearestFactor: 2,
  /** Vectors that are read from the database at once: 0.8 MB. */
  vectorPage: 512,
} as const;
