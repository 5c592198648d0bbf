/**
 * Limits that several rooms keep: what each bounds, in which unit, and why this number. What one room keeps alone stands
 * in its own `limits.ts`. No such number stands in code.
 */

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** What a client may send. */
export const REQUEST_LIMITS = {
  /** Of a request's body, in bytes: a long prompt with pasted files. It is stored as one row, and a row holds 2 MB. */
  maxBodyBytes: 1.5 * MIB,
  /** Messages in one request; a conversation keeps its own history, so few are ever needed. */
  maxMessages: 200,
  /** Messages in one request of OpenAI's shape, which brings the whole history each time: beyond it a body is full as a rule. */
  maxHistoryMessages: 2_000,
  /** UTF-16 units of one message's text. */
  maxMessageChars: 500_000,
  /** Parts of one message: text and images; providers take some 20 images, and parts around them. */
  maxContentParts: 100,
  /** UTF-16 units of a short text such as a model's name or a device's label. */
  maxNameChars: 200,
  /** Fields that there are not, as far as a refusal lists them: a body holds some hundred thousand. */
  maxUnknownFields: 20,
  /** Of `temperature`: what OpenAI's API takes. */
  maxTemperature: 2,
  /** UTF-16 units of a person's own words in an answer: the reason of a rejection, the text of a clarification. */
  maxReasonChars: 2_000,
  /** Questions that are answered at once, and options chosen of one: above what can be asked. */
  maxOptions: 50,
  /** UTF-16 units of one context field: a file tree of some 10,000 entries. */
  maxContextChars: 400_000,
  /** Entries of a context list: open files, rules. */
  maxContextEntries: 200,
  /** Paths to which one tool's calls can be limited: they travel with every call, and a project has few such folders. */
  maxAllowedPaths: 50,
  /** UTF-16 units of one of these paths: macOS opens none that is longer. */
  maxPathChars: 1_024,
  /** Conversations of one page of the list, by default and at most. */
  pageSize: 20,
  maxPageSize: 100,
  /** A body may take this long, and a second more for each so many bytes that came: a slow phone line sends twice as much. */
  bodyMs: 10 * SECOND,
  bodyBytesPerSecond: 16 * KIB,
} as const;

/** How JSON may nest: objects and arrays within each other, where the outermost is level 1. */
export const JSON_LIMITS = {
  /**
   * Of what a model, a client or a bridge sends. Tools' arguments nest some five levels and JSON Schemas some twenty, while
   * JSON.stringify and whatever else recurses has room for thousands.
   */
  maxDepth: 64,
  /** Levels that our own frames, events, rows and views put around it; the deepest are a snapshot's eight. */
  envelope: 16,
  /** Levels that are shown indented, and those within in one line: a document's arguments in an export, and some of their own. */
  shownDepth: 12,
  /** Steps of the path that tells where JSON is too deep. */
  shownPath: 6,
  /** UTF-16 units of one of its names: a client chooses them. */
  shownKeyChars: 60,
} as const;

/** What an account keeps of its conversations. */
export const ACCOUNT_LIMITS = {
  /** UTF-16 units of the title that a conversation gets from its first message: a line of a list. */
  maxTitleChars: 80,
  /** Characters of a conversation's text that can be found, the newest: all of most, and little to read for each search. */
  maxSearchChars: 64 * KIB,
} as const;

/** What becomes of a whole conversation. */
export const CONVERSATION_LIMITS = {
  /** Exchanges that are shown at once unless a reader asks for another number: many screens of talk. */
  shownExchanges: 50,
  /** Bytes of tape that are shown or copied out at once, beyond the first exchange: a moment's reading for any connection. */
  maxShownBytes: MIB,
  /** Bytes of tape up to which a follower is told event by event what it missed; beyond it gets what is shown at once. */
  maxReplayBytes: MIB,
  /** A conversation made for one answer is deleted this long after it: time to read the answer again, or to come back to it. */
  ephemeralMs: 10 * MINUTE,
  /** UTF-16 units of stored rows that are copied at once: an RPC carries 32 MiB, and an object has 128 MB in all. */
  maxPageChars: 4 * MIB,
  /** A copy that has not been finished by then was given up, and is swept away. */
  maxCopyMs: 10 * MINUTE,
} as const;

/** The run of one response. */
export const RUN_LIMITS = {
  /** So often a model may make the same call until a person is asked: a second look is common, a third one is a loop. */
  repeatedCalls: 3,
  /** Requests to the model in one run; a task that needs more is asked to go on by its user. */
  maxTurns: 100,
  /** Messages that wait for their turn, or steered the run at work: all are held in memory, and shown to all who look. */
  maxWaiting: 100,
  /** UTF-16 units of all of them together: a few requests of the largest size. An object has 128 MB for everything. */
  maxWaitingChars: 8 * MIB,
  /** Messages of a conversation whose Idempotency-Key is remembered, the newest: a repeated request comes within minutes. */
  rememberedKeys: 200,
  /** Takeovers after crashes without a turn completed in between. */
  maxTakeovers: 3,
  /** How soon the alarm looks after a run that nobody follows. */
  watchdogMs: MINUTE,
  /** A bridged call with no result by then is given up: longer than the longest command. */
  callDeadlineMs: 15 * MINUTE,
  /** How long a call waits for a bridge that is offline: a restart takes seconds, a closed lid is an answer too. */
  bridgeGraceMs: 30 * SECOND,
  /** Before calls are handed to a tunnel object again that was reset under them. */
  dispatchRetryMs: SECOND,
  /** How long a person has to answer an approval. */
  approvalMs: 24 * 60 * MINUTE,
  /** How long the Worker waits to hear whether the bridge refuses an answer: a bridge says so at once. */
  refusalMs: 5 * SECOND,
  /** Between two looks at the tunnel, so that the Worker waits and not the object; doubled each time. */
  refusalPollMs: 50,
  /** What that grows to. */
  maxRefusalPollMs: 400,
  /** UTF-16 units of a tool's result as the model reads it. */
  maxResultChars: 100_000,
  /** Bytes of what a bridge tells beside a result (a diff, a command's output), as JSON: it shares a row with the result. */
  maxResultMetadataBytes: 1_000_000,
  /** Bytes of a proposal as JSON that a person is asked about: it is one row, and more than anyone reads. */
  maxProposalBytes: 1_000_000,
} as const;

/** The table of models. It is one environment variable, of which the platform takes 5 KB. */
export const MODEL_LIMITS = {
  maxModels: 100,
  /** UTF-16 units of a model's name: the longest of the large gateways have some eighty. */
  maxNameChars: 200,
  /** Models that are asked one after the other; each may take all its attempts. */
  maxFallbacks: 8,
  /** Decimals of a cost: one token of the cheapest models costs some 1e-8. */
  costDecimals: 10,
} as const;

/** The socket between a bridge and its tunnel object. */
/** Of the tools that a bridge offers beside the built-in ones. */
export const OFFER_LIMITS = {
  /** Tools in a set: model servers take as many, and a model chooses badly among more. */
  maxOffers: 128,
  /** UTF-16 units of their definitions: with more there is no room in a model's window. One row and one frame take it. */
  maxChars: 256 * KIB,
  /** Tools of which a set only tells that they cannot be offered. */
  maxUnavailable: 128,
  /** UTF-16 units of a title, for people. */
  maxTitleChars: 200,
  /** UTF-16 units of the reason why a tool is not offered. */
  maxReasonChars: 300,
  /** Sets that a tunnel keeps: a conversation may still ask for the one before, and servers that come and go repeat theirs. */
  keptSets: 4,
} as const;

export const TUNNEL_LIMITS = {
  /** Of one frame, in bytes; the platform takes 32 MiB. */
  maxFrameBytes: 4 * MIB,
  /** Between two pings; the runtime answers them without waking the object. */
  pingMs: 25 * SECOND,
  /** Without any answer for this long the connection is dead: two pings missed. */
  deadMs: 60 * SECOND,
  /** First wait before a new connection, and the longest; doubled with jitter. */
  backoffMinMs: 250,
  backoffMaxMs: 15 * SECOND,
  /** Held for this long after its welcome a connection was good, and the waits start over: what fails over each result fails at once. */
  steadyMs: SECOND,
  /**
   * Answered within, the handshake first and then the hello, or the attempt has failed. Either takes a few round trips; each
   * failure doubles it, so that a line that is half open costs little and a server that is slow is reached at last.
   */
  answerMinMs: 2.5 * SECOND,
  answerMaxMs: 10 * SECOND,
  /** Settled and cancelled calls that a tunnel remembers, against messages that overtake each other: far more than are in flight. */
  maxSettled: 1_000,
  /** UTF-16 units of a short text in a frame: a code, a reason. */
  maxTextChars: 2_000,
  /** Tools that a bridge can offer. */
  maxTools: 200,
  /** UTF-16 units of live output on the way at once; past that it is dropped, the result has the text. */
  outputCredit: 256 * KIB,
  /** Names of what a peer can do beyond its version: a few for each year. */
  maxFeatures: 64,
  /** Ids in one frame that lists the journal's calls: 0.4 MB. A journal can hold more than one frame takes. */
  maxListedCalls: 10_000,
} as const;

/** What a bridge tells of its machine. */
export const CONTEXT_LIMITS = {
  /** Entries of the file tree: enough to find one's way, a few thousand tokens. */
  maxLayoutEntries: 400,
  /** UTF-16 units of the file tree, and of git's status. */
  maxLayoutChars: 12_000,
  maxGitStatusChars: 4_000,
  /**
   * A run waits this long for a look at the workspace, and then begins with what was known:
   * usual are 20 to 100 ms.
   */
  waitMs: 300,
  /** For listing the files, and for asking git: both happen between the handshake and the hello. */
  lookTimeoutMs: 5 * SECOND,
  /** Bytes of what git answers; a status that is longer is not shown. */
  maxGitBytes: 16 * MIB,
  /** For git's status, and for what it has at hand: its settings, and a status without new files. Together within a look. */
  gitStatusMs: 2.5 * SECOND,
  gitQuickMs: SECOND,
} as const;

/** Live output of a command. */
export const OUTPUT_LIMITS = {
  /** Output is collected for this long, or up to this many UTF-16 units, before it is sent. */
  coalesceMs: 250,
  coalesceChars: 16 * KIB,
  /** UTF-16 units of live output of one call; the result still has head and tail. */
  maxLiveChars: 256 * KIB,
} as const;

/** The tools on the developer's machine. */
export const TOOL_LIMITS = {
  /** Directories of one search: a question about more is one about the workspace. Each is searched by itself. */
  maxSearchedPlaces: 10,
  /** Bytes of a file that is read or edited as a whole. */
  maxFileBytes: 20 * MIB,
  /** Lines of a read without a limit, and UTF-16 units of one line before it is cut. */
  maxReadLines: 2_000,
  maxLineChars: 2_000,
  /** UTF-16 units of one tool result. */
  maxResultChars: 50_000,
  /** Entries of a directory listing, and of a file search. */
  maxEntries: 1_000,
  /** Matching lines of a text search without a limit. */
  maxMatches: 200,
  /** Files listed for a file search or a count, and UTF-16 units of their paths, before they are cut for show: what memory can hold with ease. */
  maxListedFiles: 200_000,
  maxListedChars: 32 * MIB,
  /** For a search process. */
  searchTimeoutMs: 30 * SECOND,
  /** Bytes of one record of a search process's output; a longer one is a line nobody wants to read, and is dropped. */
  maxSearchRecordBytes: 4 * MIB,
  /** Bytes at the start of a file in which a NUL makes it binary, as git and grep do it. */
  binaryProbeBytes: 8 * KIB,
  /** Lines that an edit with markers may delete without naming them: no real commit measured needed more. */
  maxDeletedLines: 200,
  /** The same at an edge of the file that has no marker: there the marker is more often forgotten than meant. */
  maxEdgeDeletedLines: 20,
  /** For the fine diff of one edit; without it the change is shown as one piece. */
  diffTimeoutMs: 200,
  /** UTF-16 units of a shown diff, old and new text together: well below a tunnel frame. */
  maxDiffChars: 400_000,
  /** UTF-16 units of a diff that a person is asked about: even where each takes six bytes a proposal fits its row. */
  maxProposedChars: 140_000,
  /** Lines quoted when an edit found no place, and UTF-16 units of each. */
  maxHintLines: 12,
  maxHintLineChars: 300,
  /** Lines of a file that is edited: each costs some hundred bytes of memory. */
  maxEditedLines: 500_000,
  /** Places of one searched text: a space stands in a large file millions of times. */
  maxPlaces: 1_000_000,
  /** Equal lines seen for all blocks of an edit, and spans of them: a tenth of a second each. Real edits need some hundreds. */
  maxEqualLines: 1_000_000,
  maxSpans: 200_000,
  /** Pieces of one shown change: more say less than the whole of it, and each is an object on the wire. */
  maxHunks: 1_000,
  /** UTF-16 units of a called name: no API takes more of a function's, and a longer one would be refused when it is told again. */
  maxNameChars: 64,
  /** Allowed paths named when a call leads elsewhere. */
  maxNamedPaths: 10,
  /** Line ranges named when a file changed since it was read. */
  maxStaleRanges: 5,
  /** Files remembered as read, and bytes of them; the oldest are forgotten, and then read again. */
  maxLedgerFiles: 2_000,
  maxLedgerBytes: 32 * MIB,
  /** Bytes of ignore rules, of one file and of all in a folder, and such files in it: the largest that people write has some 10 KB. */
  maxIgnoreBytes: MIB,
  maxIgnoreFiles: 1_000,
} as const;

/** The tools that run on the edge. Everything they hold is stored and sent whole. */
export const EDGE_TOOL_LIMITS = {
  /** Todos of one list: more cannot be overseen. */
  maxTodos: 100,
  /** Questions asked at once, and options of each. */
  maxQuestions: 10,
  maxOptions: 10,
  /** UTF-16 units of an id or a name. */
  maxIdChars: 100,
  /** UTF-16 units of a todo, a question, an option, or a plan's overview. */
  maxTodoChars: 2_000,
  /** UTF-16 units of a plan: a long document, well within a row. */
  maxPlanChars: 100_000,
} as const;

/** Commands on the developer's machine. */
export const COMMAND_LIMITS = {
  /** UTF-16 units of a command line. */
  maxCommandChars: 32 * KIB,
  defaultTimeoutMs: 2 * MINUTE,
  maxTimeoutMs: 10 * MINUTE,
  /** From SIGTERM to SIGKILL. */
  killGraceMs: 2 * SECOND,
  /** From a process's exit until its pipes are given up: a daemon may hold them open for ever. */
  drainMs: 500,
  /** UTF-16 units of output kept from the start and from the end. */
  maxHeadChars: 16 * KIB,
  maxTailChars: 16 * KIB,
  /**
   * UTF-16 units of output read before a pause, and the pause: 40 MB a second, more than any build prints, at a few
   * percent of a core.
   */
  maxOutputCharsPerPause: MIB,
  outputPauseMs: 25,
  /** How often an ending group of processes is looked at: no delay that a person sees. */
  groupPollMs: 20,
  /** A background command is up when it printed nothing for this long; a build step in between rarely pauses so. */
  backgroundQuietMs: SECOND,
  /** A background command that never stops printing is reported after this long. */
  backgroundWaitMs: 5 * SECOND,
  /** Background commands of one bridge: more are forgotten ones. */
  maxBackground: 16,
  /** The sandbox's self-test takes 0.1 s; a machine that needs longer than this cannot be relied on. */
  probeTimeoutMs: 10 * SECOND,
  /** Answers of devices kept for questions that are not asked yet: all that one return of a tunnel may bring. */
  maxEarlyAnswers: 100,
  /** Size at which the journal of calls is rewritten without what was acked, in bytes: a write of some 20 ms. */
  compactJournalBytes: 4 * MIB,
  /** A journal that holds more than this is only rewritten when a bridge starts: while it works it would stand still. */
  maxCompactedBytes: MIB,
  /** Beyond it only what is acked is noted: more than any server leaves unacked, and read at a start within seconds. */
  maxJournalBytes: 256 * MIB,
} as const;
