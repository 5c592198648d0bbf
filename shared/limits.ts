/** Every limit of Drawbridge: what it bounds, in which unit, and why this number. No such number stands in code. */

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

/** Tickets for streams. */
export const TICKET_LIMITS = {
  /** From its making until it must have been used: a page uses it at once. */
  lifeMs: MINUTE,
  /** A used one is remembered for this long after it has expired: more than clocks differ. */
  keptMs: MINUTE,
} as const;

/** How often one account may call, where the Worker's settings name no other number. */
export const RATE_LIMITS = {
  /** Requests of any kind a minute: a busy client with many open conversations makes a few a second. */
  requestsPerMinute: 1_200,
  /** Runs a minute: far more than people start, and enough for a script. */
  runsPerMinute: 120,
  /** Counters in one isolate's memory: about 10 MB. */
  maxBuckets: 100_000,
} as const;

/** Who may call. */
export const AUTH_LIMITS = {
  /** Tokens in one isolate's memory: about 1 MB. */
  maxVerifiedTokens: 1_000,
} as const;

/** What browsers may keep of an answer about origins. */
export const CORS_LIMITS = {
  /** Chromium keeps no longer either. */
  maxAgeSeconds: 7_200,
} as const;

/** The description of the API. */
export const DOCUMENT_LIMITS = {
  /** It changes with deployments only, and a generated client is not made anew every minute. */
  maxAgeSeconds: 300,
} as const;

/** The tape and its readers. */
export const TAPE_LIMITS = {
  /** Positions a new instance leaves free before its first append: more than one commit can ever hold unwritten. */
  jump: 2 ** 20,
  /** UTF-16 units of uncommitted events that force a commit. */
  commitChars: 32 * KIB,
  /** The longest that what a model writes stays uncommitted: what a crash can take back. Each commit is one billed row. */
  commitMs: 2 * SECOND,
  /** UTF-16 units of one stored row, below the platform's 2 MB per row even where JSON escapes each in six bytes. */
  maxRowChars: 300_000,
} as const;

/** The adapter between an object's socket and its reader's SSE response or WebSocket. */
export const FOLLOW_LIMITS = {
  heartbeatMs: 15 * SECOND,
  /** How long an answer in one piece may take under its own status; then its headers are sent, with 200. */
  heldMs: 15 * SECOND,
  /** Between two spaces ahead of such an answer. The second write behind a client's leaving fails, the third says so. */
  trickleMs: 5 * SECOND,
  /** A reader that takes nothing for this long is gone. */
  stalledMs: 30 * SECOND,
  /** Bytes of one write to it, which ends when all of them were taken: a slow reader takes so many in that time. */
  pieceBytes: 128 * KIB,
  /** A response ends by then and the client returns with its cursor: bounds leaks and the CPU of one request. */
  maxLifeMs: 10 * MINUTE,
  /** The client's delay before it returns, as SSE `retry:`. */
  retryMs: 100,
  /** Bytes waiting for a slow reader before the adapter lets go of its socket; the tape keeps the rest. */
  maxBufferedBytes: 256 * KIB,
  /** Unacknowledged bytes on a WebSocket at which the adapter goes on: well below, or each ack would let it go again. */
  resumeBytes: 128 * KIB,
  /** UTF-16 units of a WebSocket reader's message: `{"ack": position}` with a safe integer takes 26. */
  maxAckChars: 64,
  /** Between two attempts to attach again after the object's socket closed, and how many of them. */
  reattachMs: 200,
  maxReattaches: 150,
} as const;

/** Calls from the Worker to an object that is being restarted. */
export const REACH_LIMITS = {
  /** Attempts after the first one, for what may be done twice: a restart takes some tens of milliseconds. */
  maxRepeats: 3,
  /** Before the first repeat, doubled for each further one; up to half is taken off. */
  repeatMs: 100,
  /** What a client is told to wait before it asks again. */
  retryAfterSeconds: 1,
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

/** What a model is told of a conversation that has outgrown it. Shares are of the room: the model's window without the answer. */
export const WINDOW_LIMITS = {
  /** Tokens of a window that nobody has told us: what most models that are good with tools have at least. */
  defaultTokens: 128_000,
  /** Tokens left for an answer whose length nobody limits, and the share of the window that they are at most. */
  reserveTokens: 20_000,
  maxReserveShare: 0.25,
  /** The same share where the length is set: servers refuse a prompt that leaves less than they were asked for. */
  maxAskedReserveShare: 0.75,
  /** Tokens per UTF-16 unit until one was measured: code and English, on the careful side. */
  tokensPerChar: 1 / 3.5,
  /** A measured one outside of these is a miscount: whitespace is below, rare scripts with old tokenizers are above. */
  minTokensPerChar: 1 / 6,
  maxTokensPerChar: 2,
  /**
   * A server that counts fewer tokens per UTF-16 unit than any text comes to has read only a part of its prompt, if it counts
   * at least so many: the smallest windows leave half of 2,048. Fewer are of servers that do not count, or only what is new.
   */
  cutTokensPerChar: 1 / 10,
  minCutTokens: 500,
  /** UTF-16 units that an image counts for: some 1,500 tokens, a large one at most providers. */
  imageChars: 5_000,
  /** UTF-16 units of what was told that an object holds for the next request: any usual window, few images (4 to 8 MB). */
  maxHeldChars: 4_000_000,
  /** UTF-16 units that a message and a call count for beside their texts: roles, ids, marks. */
  messageChars: 24,
  /** Full at this share: the rest is for what an estimate misses. */
  full: 0.85,
  /** Old results are left out down to this share, so that the next time is far; where that does not lead below `roomy`, a summary does. */
  pruned: 0.5,
  roomy: 0.6,
  /** What a window must save before the room is really exceeded; less would bring the next one soon. */
  minSaving: 0.125,
  /** What is told word for word beside a new summary. A run at work is not cut while it takes less than `uncut`. */
  tail: 0.25,
  uncut: 0.5,
  /** All results of one turn together; longer ones are told by their head and tail. */
  turnResults: 1 / 3,
  /** What may stand in a digest. The user's newest words may take more, where it is they that are long. */
  words: 0.25,
  newestWords: 0.5,
  summary: 0.1,
  plan: 0.1,
  todos: 0.05,
  /** A digest is one row of 2 MB, and every character can take six bytes: with a list of todos, this much is left. */
  maxSummaryChars: 25_000,
  maxPlanChars: 25_000,
  maxWordsBytes: 600_000,
  /** UTF-16 units to which the user's older messages are cut at most, before the oldest are left out. */
  minWordChars: 300,
  /** Characters that are read of a result that is told as a note: what a summary can show of it. */
  prunedResultChars: 2_000,
  /** UTF-16 units up to which a result is neither cut nor left out: the note in its place would hardly be shorter. */
  minResultChars: 300,
  /** UTF-16 units that a word takes, for telling the model how long its summary may be: Markdown with paths and names. */
  wordChars: 7,
  /** UTF-16 units of one text in the request for a summary, where there is room; a saying of the user has more. */
  maxRenderedChars: 2_000,
  minRenderedChars: 60,
  /** For the model's summary; what was done is listed where it takes longer. */
  maxSummaryMs: 2 * MINUTE,
  /** UTF-16 units of a turn's first line and of a call's subject in a list of what was done. */
  maxListedChars: 160,
} as const;

/** Talking to the model. */
export const UPSTREAM_LIMITS = {
  /** Attempts of one turn with one model before its first byte was shown. */
  maxAttempts: 3,
  /** The longest wait that an upstream's Retry-After is obeyed. */
  maxRetryAfterMs: 60 * SECOND,
  /** Who is to wait longer than this is answered by a fallback instead, where there is one. */
  patienceMs: 5 * SECOND,
  /** First back-off; doubled for each attempt, with jitter. */
  backoffMs: 500,
  /** From the request to the first data event. */
  firstByteMs: 60 * SECOND,
  /** Between two data events; comments do not count. */
  stallMs: 45 * SECOND,
  /** How often that is looked at. */
  stallTickMs: 5 * SECOND,
  /** From the request to the end of its answer, however steadily it comes: reasoning models take up to a quarter hour. */
  maxAnswerMs: 30 * MINUTE,
  /** Bytes of a stream, unpacked: 128k tokens of some 500 bytes each make 64 MiB. */
  maxStreamBytes: 128 * MIB,
  /** UTF-16 units of all that is kept of an answer: 128k tokens make less than one. */
  maxAnswerChars: 4 * MIB,
  /** What each piece of a call is counted for at least: holding it costs memory even where it is empty. */
  minPieceChars: 16,
  /** Of one event of the stream, in UTF-16 units; more is not an answer. */
  maxEventChars: 8 * MIB,
  /** UTF-16 units of a body that is no stream: an error, or a whole completion. */
  maxBodyChars: 4 * MIB,
  /** UTF-16 units of an upstream's error message that are passed on. */
  maxErrorChars: 500,
  /** How deep in an error's JSON its message is looked for: the deepest seen is three. */
  maxErrorDepth: 4,
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

/** Long computations on the developer's machine. */
export const COMPUTE_LIMITS = {
  /** For one in the thread; the worst that was found, in a file of the largest size, takes a tenth of it. */
  maxMs: 10 * SECOND,
  /** Megabytes of the thread's heap: the largest file takes about half of it. */
  maxHeapMb: 1_024,
  /** A thread without work for this long is ended, for it may hold much memory; a new one starts in a tenth of a second. */
  idleMs: MINUTE,
  /** The longest that a work in slices holds the loop up, about: nothing that a person or a socket notices. */
  turnMs: 10,
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

/** Reading a command line for the rules. A line beyond them is asked about where rules forbid commands. */
export const RULE_LIMITS = {
  /** Substitutions inside of each other, and lines that are arguments of shells: people write three. */
  maxNesting: 50,
  /** Commands of one line: each is judged by each rule. */
  maxCommands: 1_000,
  /** UTF-16 units between the parentheses of arithmetic: how far is looked for its end. */
  maxArithmeticChars: 1_000,
  /** Words that are looked through for a command behind `sudo -u me` and the like. */
  maxWordsBefore: 64,
  /** UTF-16 units of all that one command may be called by: each is matched with each rule. */
  maxReadingChars: 256 * KIB,
  /** UTF-16 units of a tool's name in a rule that are shown, and compared with the names that there are. */
  maxNameChars: 64,
  /** Patterns that a search names when it leaves their files out. */
  maxNamedPatterns: 5,
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

/** What a command made and is put away before a person's programs meet it. */
export const QUARANTINE_LIMITS = {
  /** Directory entries looked at for install scripts, nearest first: about 100 ms the first time. */
  maxScriptScanEntries: 20_000,
  /** Entries of one folder, and of one repository, that are looked at: a clone's loose objects are some thousands. */
  maxEntries: 100_000,
  /** Things of one repository that are put away one by one; with more the repository goes as a whole. */
  maxFindings: 200,
  /** New repositories that are looked into after one command; with more all go as they are. A clone brings a few. */
  maxRepositories: 50,
  /** Depth of folders in a repository: refs and objects have few, and each is held open. */
  maxDepth: 64,
  /** Bytes of a repository's configuration, and of a `.git` file: usual are some hundred. */
  maxConfigBytes: 256 * KIB,
  maxLinkBytes: 4 * KIB,
  /** For listing a configuration; usual are 3 ms. */
  gitTimeoutMs: 5 * SECOND,
  /** Attempts to clean a repository that changes meanwhile, before it goes as a whole. */
  maxRounds: 3,
  /** Bytes that are copied where the state lies on another disk; renaming on the same disk has no limit. */
  maxCopyBytes: 256 * MIB,
  /** UTF-16 units of one thing as it is told, things told of one place, and places told at once. */
  maxWhatChars: 200,
  maxWhats: 20,
  maxTold: 20,
  /** Entries that `drawbridge check` looks at: more than any project has, some seconds. */
  maxCheckedEntries: 2_000_000,
  /** How often is looked while a background command runs: what it makes waits no longer for the person's next command. */
  watchMs: 5 * SECOND,
  /** How much the clock of a file may be behind: kernels take the time of their last tick, 10 ms at most. */
  clockSlackMs: 20,
} as const;

/** The client's side of a stream. */
export const CLIENT_LIMITS = {
  /** No byte for this long and the connection is dead: two heartbeats missed, and some for the way. */
  silentMs: 35 * SECOND,
  /** First wait before a stream is opened again (unless the server names one), and the longest; doubled with jitter. */
  backoffMinMs: 100,
  backoffMaxMs: 10 * SECOND,
} as const;

/** What `drawbridge chat` shows of long things; the documents themselves stay whole. */
export const RENDER_LIMITS = {
  /** Changed lines of one edit, and unchanged ones around each change. */
  maxDiffLines: 40,
  diffContextLines: 2,
  /** Steps of the search for a short diff; past that the texts have too little in common to compare. */
  maxDiffSteps: 2_000,
  /** UTF-16 units of a tool's arguments or of its result on its one line. */
  maxSummaryChars: 100,
  /** Lines of a command's output that was not seen live. */
  maxOutputLines: 40,
} as const;

/** The command line. */
export const CLI_LIMITS = {
  /** Until an input that stays silent beside a prompt is passed over: a person bears it, most programs are quicker. */
  firstInputMs: 3 * SECOND,
  /** For cancelling a run at SIGTERM: whoever sent it comes with SIGKILL before long. */
  cancelMs: 2 * SECOND,
  /** Between two looks whether a bridge that was offline is back. */
  bridgeLookMs: 2 * SECOND,
  /** Columns left for titles in a list below which the dates give up theirs. */
  minTitleColumns: 16,
} as const;

/** Everything on one machine: what `npm start` runs. */
export const LOCAL_LIMITS = {
  /** A user's token is renewed with every command of its last day, so only an unused one ever expires. */
  userTokenMs: 30 * 24 * 60 * MINUTE,
  renewTokenMs: 24 * 60 * MINUTE,
  /** A bridge gets a new token with every start of its process. */
  bridgeTokenMs: 30 * 24 * 60 * MINUTE,
  /** From the start of the Worker to its first healthy answer, and between two looks; usual is a tenth of a second. */
  healthyMs: 15 * SECOND,
  healthPollMs: 25,
  /** Conversations that are woken after a start of the Worker, a few at a time: more than are ever at work at once. */
  maxWoken: 100,
  wokenAtOnce: 8,
  /** A writing Worker has its table of alarms for a moment. */
  alarmsWaitMs: SECOND,
  /** From the start of the bridge to its welcome; it tests the sandbox before. */
  bridgeReadyMs: 30 * SECOND,
  /** This many deaths within the window are a crash loop, which restarting does not mend. */
  crashWindowMs: 10 * SECOND,
  maxCrashes: 5,
  /** The wait before the second restart within the window, doubled for each further one; the first is at once. */
  restartMs: 100,
  /** From SIGTERM to SIGKILL. The Worker would wait for open streams, and loses nothing by SIGKILL. */
  workerGraceMs: 500,
  /** The bridge ends the commands it runs, see COMMAND_LIMITS.killGraceMs. */
  bridgeGraceMs: 5 * SECOND,
  /** How often the state folder is looked at, and the free room of its disk below which its owner is told. */
  stateWatchMs: SECOND,
  minFreeBytes: 2 * MIB,
  /** Bytes of a log file before it becomes the old one; one old one is kept. */
  maxLogBytes: 5 * MIB,
  /** UTF-16 units of the log's end that are shown when the Worker keeps dying. */
  maxLogTailChars: 4 * KIB,
} as const;
