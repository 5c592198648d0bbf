/** The limits of the command line. */
import { HOUR, KIB, MIB, MINUTE, SECOND } from '../shared/units.ts';

/** How much `drawbridge chat` shows of long content. The documents themselves stay whole. */
export const RENDER_LIMITS = {
  /** Lines shown of one edit, and the unchanged lines shown around each change. */
  maxDiffLines: 40,
  diffContextLines: 2,
  /** Steps of the search for a short diff; beyond that the texts have too little in common to compare. */
  maxDiffSteps: 2_000,
  /** UTF-16 units shown of a tool's arguments, and of its result. */
  maxSummaryChars: 100,
  /** UTF-16 units shown of why a mention is not attached: a path and two sentences. */
  maxReasonChars: 400,
  /** The least columns into which a line is broken: narrower ones are unreadable. */
  minFoldedColumns: 5,
  /** Lines shown of a command's output that did not arrive live. */
  maxOutputLines: 40,
} as const;

/** How much the screen of a terminal shows at once. */
export const SCREEN_LIMITS = {
  /** Lines shown of an output or a text that is folded: the last ones of a test runner say what failed. */
  foldedLines: 8,
  /** Lines shown of what unfolds, one part or all: more would push everything else out of the terminal's own history. */
  unfoldedLines: 1_000,
  /** Rows of a diff that is folded, and the unchanged rows around each change. */
  diffRows: 24,
  contextRows: 3,
  /** UTF-16 units that get colours at once: 1 ms for each KiB of most code, its square for empty lines. */
  highlightStep: 4 * KIB,
  highlightedChars: 16 * KIB,
  /** Columns from which a diff has room for the line numbers of both sides. */
  twoNumbersColumns: 60,
} as const;

/** The command line. */
export const CLI_LIMITS = {
  /** UTF-16 units of the link of an invitation: a long address of a server, and the secret. */
  maxLinkChars: 4_000,
  /** How often signing in is tried again while the server cannot be reached: half a minute. */
  maxLoginTries: 6,
  /** Bytes of a request beside its image: a long question with what a pipe brings. */
  besideImageBytes: 128 * KIB,
  /** How long a chat with a prompt waits for the first input on stdin: most programs are quicker, a person bears it. */
  firstInputMs: 3 * SECOND,
  /** How long a chat waits for its cancel request after SIGTERM: SIGKILL often follows soon. */
  cancelMs: 2 * SECOND,
  /** Without an answer for this long, a message stands in a queue: the server begins one at once. */
  queuedMs: SECOND,
  /** Between two checks whether an offline bridge is back. */
  bridgeLookMs: 2 * SECOND,
  /** How long the file is there that leads a browser to the page; and between two looks whether the page is in. */
  pageFileMs: MINUTE,
  pageLookMs: 250,
  /** For what a running bridge says of its MCP servers: lists go on without it. */
  bridgeAnswerMs: 2 * SECOND,
  /** How long `companion on` waits for the bridge, which looks at the setting every two seconds; and how often it looks. */
  companionMs: 5 * SECOND,
  companionLookMs: 100,
  /** If fewer columns than these are left for titles, a list leaves out the times. */
  minTitleColumns: 16,
  /** Companions of editors that `ide` tries: more windows than people have open on one folder. */
  maxTriedCompanions: 16,
  /** Seconds that a tool follows an agent: by default less than MCP clients wait for an answer, and at most. */
  followSeconds: 45,
  maxFollowSeconds: 600,
  /** Between two looks of a bridge at the end of its token. */
  tokenLookMs: HOUR,
  /** Models of one server that the choice of a model lists: more do not fit on a screen. */
  maxOfferedModels: 12,
  /** Between two looks at a log that is followed; the bytes of its end that are read; the most lines of `--lines`. */
  logPollMs: 250,
  maxLogTailBytes: 4 * MIB,
  maxLogLines: 10_000,
  /** Conversations that are listed for the last one of a folder, at most, and how many at once. */
  maxSearchedConversations: 200,
  searchedAtOnce: 20,
  /** How long an editor may take to install an extension: it downloads some megabytes. */
  installMs: 5 * 60 * SECOND,
  /** How long the system's service manager may take for one command. */
  serviceMs: 30 * SECOND,
  /** How long one check of `doctor` may take: a command that prints a key may ask the person something. */
  checkMs: 30 * SECOND,
  /** Clocks may differ by this much: tokens allow for less, but servers' answers take time too. */
  clockSlackMs: 2 * 60 * SECOND,
  /** The events of the test stream come a second apart in all. A network that hurries still leaves half of it. */
  streamSpreadMs: SECOND / 2,
  /** Between two looks at the deletion of an account. */
  deletionPollMs: SECOND,
  /** UTF-16 units in which the last line of an account's export fits. */
  exportEndChars: 100,
  /** Free bytes of the state's disk that need no word, and those without which a start fails soon. */
  muchFreeBytes: 512 * MIB,
  littleFreeBytes: 32 * MIB,
} as const;
