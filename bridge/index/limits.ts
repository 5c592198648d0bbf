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
  /** Milliseconds that a file must have been left alone for its times to show every later change. */
  settledMs: 50,
  /** A word in more chunks than this only counts for chunks that other words of the question have found. */
  maxRows: 12_000,
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
} as const;
