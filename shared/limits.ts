/** Limits that several rooms keep: what each bounds, its unit, and why. A single room has its own `limits.ts`. */
import { HOUR, KIB, MIB, MINUTE, SECOND } from './units.ts';

/** The look for what deleted accounts have left behind. */
export const LEFT_LIMITS = {
  /** Objects in one request. Each has three files open for some seconds, of the some hundred that a process may have. */
  maxObjects: 20,
} as const;

/** What a client may send. */
export const REQUEST_LIMITS = {
  /** Bytes of a request's body: a long prompt with pasted files. It is stored as one row, which takes up to 2 MB. */
  maxBodyBytes: 1.5 * MIB,
  /** Messages in one request. A conversation keeps its own history, so a request needs few. */
  maxMessages: 200,
  /** Messages in one request in OpenAI's form, with the whole history. A larger history usually fills the body. */
  maxHistoryMessages: 2_000,
  /** UTF-16 units of one message's text. */
  maxMessageChars: 500_000,
  /** Parts of one message, text and images. Providers take some 20 images, with texts around them. */
  maxContentParts: 100,
  /** UTF-16 units of a short text such as a model's name or a device's label. */
  maxNameChars: 200,
  /** Unknown fields that a refusal lists: a body can have some hundred thousand. */
  maxUnknownFields: 20,
  /** The largest `temperature`, as in OpenAI's API. */
  maxTemperature: 2,
  /** OpenAI takes four. */
  maxStops: 16,
  maxStopChars: 256,
  /** UTF-16 units of a person's text in an answer: the reason of a rejection, the text of a clarification. */
  maxReasonChars: 2_000,
  /** UTF-16 units of a file that a device shows to be changed, and of the changed one: people edit no longer one there. */
  maxAmendedChars: 64 * KIB,
  /** Tools of an app in one request, and UTF-16 units of them all: a model reads them with each request. */
  maxClientTools: 128,
  maxClientToolChars: 256 * KIB,
  /** Questions in one set of answers, and chosen options of one question: more than the agent can ask. */
  maxOptions: 50,
  /** UTF-16 units of one context field: a file tree of some 10,000 entries. */
  maxContextChars: 400_000,
  /** Entries of a context list: open files, rules. */
  maxContextEntries: 200,
  /** Paths to which one tool's calls can be limited: every call carries them, and a project has few such folders. */
  maxAllowedPaths: 50,
  /** UTF-16 units of one of these paths: macOS opens no longer path. */
  maxPathChars: 1_024,
  /** Conversations on one page of the list: by default, and at most. */
  pageSize: 20,
  maxPageSize: 100,
  /** A body may take `bodyMs`, and a second more for each `bodyBytesPerSecond`: slow phone lines send twice as much. */
  bodyMs: 10 * SECOND,
  bodyBytesPerSecond: 16 * KIB,
} as const;

/** Large images in a message. */
export const IMAGE_LIMITS = {
  /** Bytes of a request with its images, as base64: three photos of a phone, which some chats send again each time. */
  maxBodyBytes: 48 * MIB,
} as const;

/** `GET /metrics`. */
export const METRICS_LIMITS = {
  /** Characters of a token in METRICS_TOKEN: too many to guess. */
  minTokenChars: 16,
} as const;

/** What an account keeps of its conversations. */
export const ACCOUNT_LIMITS = {
  /** UTF-16 units of the title made from a conversation's first message: a line of a list. */
  maxTitleChars: 80,
  /** Characters of a conversation's newest text that a search finds: all of most conversations, quick to search. */
  maxSearchChars: 64 * KIB,
} as const;

/** The keys of apps, and the tokens of their users. */
export const KEY_LIMITS = {
  /** Keys of one server. The Worker reads all of them at once, about 100 KB. */
  maxKeys: 200,
  maxIdChars: 32,
  /** Characters of an app's id of a user: a UUID, an e-mail address, `auth0|…`. */
  maxUserChars: 128,
  maxOrigins: 20,
  maxOriginChars: 300,
  maxUrlChars: 500,
  maxModels: 50,
  maxBridges: 20,
  /** Requests or runs a minute: more than one server answers. */
  maxRate: 100_000,
  /** Seconds that a token of an app is valid: by default, at least, and at most. Nothing but its end takes it back. */
  tokenSeconds: 10 * 60,
  minTokenSeconds: 30,
  maxTokenSeconds: 60 * 60,
} as const;

/** The lists of records. */
export const RECORD_LIMITS = {
  page: 100,
  /** Records of a page: about 200 KB. */
  maxPage: 1_000,
} as const;

/** Sessions of people, and the ways in. */
export const SESSION_LIMITS = {
  /** Characters of a session's name: the longest host name (RFC 1035, section 2.3.4). */
  maxNameChars: 255,
  /** Characters of an account's name, which other systems may have made. */
  maxAccountChars: 300,
  /** Characters of a JWT with a key in its header and a handful of claims: some 500. */
  maxProofChars: 2_000,
  /** Characters of a coordinate of P-256 in base64url: 32 bytes. */
  coordinateChars: 43,
  /** How long a token of a session is valid. It is also the longest that a revoked one can be read with. */
  tokenMs: 10 * MINUTE,
  /** How long before its end a client takes another token: more than a slow request takes. */
  renewMs: 30 * SECOND,
  /** How long a server may take to answer a request for a token. Everything else waits for it. */
  answerMs: 20 * SECOND,
  /** How long an invitation waits: over a night and a day off. */
  invitationMs: 48 * HOUR,
  /** How long a login waits for a person to find another device. */
  loginMs: 10 * MINUTE,
  /** How long a machine waits between two questions whether it was let in (RFC 8628, section 3.5). */
  loginIntervalMs: 5 * SECOND,
} as const;

/** The clocks of those who sign. */
export const CLOCK_LIMITS = {
  /**
   * How far the clock that made a proof or a token may be ahead (`nbf`, `iat`), and that of a proof behind: machines
   * without NTP drift that far. A client that learns the server's time corrects its proofs. `exp` counts to the second.
   */
  maxOffMs: 2 * MINUTE,
} as const;

/** Subscriptions to notifications. */
export const PUSH_LIMITS = {
  /** Characters of the address at a push service or of a topic: the longest ones in use have some 500. */
  maxEndpointChars: 2_000,
  /** Characters of the browser's public key in base64url: the 65 bytes of an uncompressed point. */
  keyChars: 87,
  /** Characters of the browser's secret in base64url: 16 bytes. */
  authChars: 22,
} as const;

/** Background runs. */
export const AGENT_LIMITS = {
  /** UTF-16 units of a webhook's URL: the longest that common servers take. */
  maxUrlChars: 2_000,
} as const;

/** The limits of a whole conversation. */
export const CONVERSATION_LIMITS = {
  /** Exchanges that one answer shows unless a reader asks for another number: many screens of text. */
  shownExchanges: 50,
  /** Bytes of tape shown at once, beyond the first exchange: any connection transfers this quickly. */
  maxShownBytes: MIB,
  /** Bytes of tape in a part of an export, beyond the first exchange: no other account waits long for a part. */
  maxChapterBytes: 128 * KIB,
  /** Bytes of tape up to which a follower gets the missed events one by one. Beyond, it gets a snapshot. */
  maxReplayBytes: MIB,
  /** A conversation made for one answer is deleted this long after the answer: time to read it again or come back. */
  ephemeralMs: 10 * MINUTE,
  /** UTF-16 units of stored rows copied at once, beyond the first row: no other account waits long for a page. */
  maxPageChars: 256 * KIB,
  /** A copy that is unfinished after this time counts as given up and is deleted. */
  maxCopyMs: 10 * MINUTE,
} as const;

/** Private conversations. */
export const PRIVACY_LIMITS = {
  /** The longest time in hours until the text is deleted: a month. Longer is hardly privacy. */
  maxHours: 720,
} as const;

/** The run of one response. */
export const RUN_LIMITS = {
  /** At this many equal calls with equal results the model is stopped: a second call is common, a third is a loop. */
  repeatedCalls: 3,
  /** Requests to the model in one run, where neither the request nor the server says another number. */
  maxTurns: 100,
  /** Messages that wait, or that steer the run in progress: all are in memory and shown to every reader. */
  maxWaiting: 100,
  /** UTF-16 units of all these messages together: a few requests of the largest size. An object has 128 MB. */
  maxWaitingChars: 8 * MIB,
  /** The newest messages of a conversation whose Idempotency-Key is kept: a repeated request comes within minutes. */
  rememberedKeys: 200,
  /** Takeovers after crashes without a completed turn in between. */
  maxTakeovers: 3,
  /** How soon the alarm checks a run that has no follower. */
  watchdogMs: MINUTE,
  /** A call to the bridge without a result after this time is given up: longer than the longest command. */
  callDeadlineMs: 15 * MINUTE,
  /** How long a call waits for an offline bridge: a restart takes seconds, a closed laptop stays offline. */
  bridgeGraceMs: 30 * SECOND,
  /** The wait before calls go again to a tunnel object that was reset during them. */
  dispatchRetryMs: SECOND,
  /** Edited files of a debug run that are searched for instrumentation: each is a call at the bridge. */
  maxCheckedFiles: 50,
  /** Other files with instrumentation that a debug run lists: a person reads the list. */
  maxMarkedFiles: 20,
  /** How long a person has to answer an approval. */
  approvalMs: 24 * 60 * MINUTE,
  /** How long the Worker waits for the bridge to refuse an answer: a bridge refuses at once. */
  refusalMs: 5 * SECOND,
  /** The first wait between two checks of the tunnel, doubled each time: the Worker waits here, not the object. */
  refusalPollMs: 50,
  /** The longest wait between two checks. */
  maxRefusalPollMs: 400,
  /** Bytes of a request as JSON with what was found for its message: they share a row of 2 MB with the machine. */
  maxFoundBytes: 1.6 * MIB,
  /** UTF-16 units of a tool's result for the model. */
  maxResultChars: 100_000,
  /** Bytes of a result's metadata as JSON (a diff, a command's output): it shares a row with the result. */
  maxResultMetadataBytes: 1_000_000,
  /** Bytes of a proposal as JSON: it is one row, and a person reads no more than this. */
  maxProposalBytes: 1_000_000,
} as const;

/** The table of models: one environment variable, for which the platform allows 5 KB. */
export const MODEL_LIMITS = {
  maxModels: 100,
  /** UTF-16 units of a model's name: the longest names of large gateways have some eighty. */
  maxNameChars: 200,
  /** Fallback models, asked one after the other. Each may use all its attempts. */
  maxFallbacks: 8,
  /** Anthropic takes no smaller budget of thoughts. */
  minThinkingTokens: 1_024,
  /** Decimals of a cost: a token of the cheapest models costs some 1e-8. */
  costDecimals: 10,
} as const;

/** The budget of a response. */
export const BUDGET_LIMITS = {
  /** 30 days: longer than any run waits, and far within what a date can hold. */
  maxSeconds: (30 * 24 * 60 * MINUTE) / SECOND,
  /** The most turns that a request or a server may allow: a day of work. A loop must end by itself. */
  maxTurns: 1_000,
  /** The share that is left of a limit when the model and readers learn of it: enough for a few more turns. */
  nearShare: 0.2,
} as const;

/** The changes of the system prompt that a deployment makes. They count with every request to a model. */
export const PROMPT_SETTING_LIMITS = {
  /** Two for each block. */
  maxChanges: 32,
  maxNameChars: 60,
  /** UTF-16 units of one text: some 1,500 tokens, as long as all built-in blocks together. */
  maxTextChars: 8_000,
  /** Globs of models in one change. */
  maxModels: 20,
} as const;

/** The list of an account's usage. */
export const USAGE_LIMITS = {
  /** Days of a list without `from`, and of any list: a year. */
  days: 30,
  maxDays: 366,
  /** Entries of a page: about 300 KB. */
  maxPage: 1_000,
} as const;

/** The tools that a bridge offers in addition to the built-in ones. */
export const OFFER_LIMITS = {
  /** Tools of a request, built-in ones included: model servers refuse more, and a model chooses badly among them. */
  maxTools: 128,
  /** Offers among them, as a bridge cuts them. What is left is for built-in tools. */
  maxOffered: 104,
  /** Offers in a set: more than a bridge sends. */
  maxOffers: 128,
  /** UTF-16 units of all definitions: more would fill a model's context window. One row and one frame can carry it. */
  maxChars: 256 * KIB,
  /** Tools that a set lists as unavailable, and those of them that a response lists unasked. */
  maxUnavailable: 128,
  maxListed: 10,
  /** Servers whose instructions a set has, and UTF-16 units of each: the model reads them with each request. */
  maxServers: 32,
  maxInstructionsChars: 4 * KIB,
  /** UTF-16 units of a title, which people read. */
  maxTitleChars: 200,
  /** UTF-16 units of the reason why a tool is not offered. */
  maxReasonChars: 300,
  /** Sets that a tunnel keeps: a conversation may still need the previous one; a returning server repeats its set. */
  keptSets: 4,
} as const;

/** A bridge's report of the editor on its machine. */
export const EDITOR_LIMITS = {
  /** Open files, and UTF-16 units of the selected text before it is cut: as the CLIs that editors know send them. */
  maxOpenFiles: 10,
  maxSelectedChars: 16_384,
  /** UTF-16 units of a path: the longest that Linux opens. */
  maxPathChars: 4_096,
} as const;

/** The report of a bridge's MCP servers for people. */
export const MCP_REPORT_LIMITS = {
  /** Servers of one bridge: people list five. */
  maxServers: 32,
  /** Resources, and prompts, of one server. */
  maxEntries: 100,
  /** UTF-16 units of an address, a name or a reason. */
  maxTextChars: 300,
  /** UTF-16 units of the whole report: one frame, and one row that changes with each server's state. */
  maxChars: 64 * KIB,
} as const;

/** The report of a bridge's processes for people. */
export const PROCESS_REPORT_LIMITS = {
  /** A bridge's workspace has 16 in the background; a few worktrees fit, and the outputs kept of ended commands. */
  maxProcesses: 100,
  /** UTF-16 units of a command, a folder, an id, its newest line, or the way that it ended: a line of a list. */
  maxTextChars: 300,
} as const;

/** Passkeys, with which a person signs in at a server, or approves from its page. */
export const PASSKEY_LIMITS = {
  /** Characters of a credential's id in base64url: 1,023 bytes (Web Authentication Level 3, section 4). */
  maxIdChars: 1_364,
  /** Characters of one part of what a passkey signs: some hundreds, and extensions can add to it. */
  maxDataChars: 4_000,
  /** Characters of the origin of its page: a name of 253 (RFC 1035, section 3.1), its scheme and its port. */
  maxOriginChars: 267,
  /** Characters of a passkey's name. */
  maxNameChars: 100,
  /** Passkeys of one account: one for each device, and for each vault that copies its own between devices. */
  maxPasskeys: 20,
} as const;

/** The secrets that enrol one device each. */
export const ENROLMENT_LIMITS = {
  /** Bytes of a secret: too many to guess. */
  secretBytes: 32,
  /** How long a secret counts: a person opens a page, or scans a code. */
  openMs: 10 * MINUTE,
  /** Characters of 32 bytes in base64url: a secret, a MAC, a coordinate of P-256. */
  base64UrlChars: 43,
} as const;

/** What an MCP server may ask a person in the middle of a call. */
export const ELICITATION_LIMITS = {
  /** Questions of one call: a server that asks more does not know what it wants. */
  maxQuestions: 10,
  /** Fields of one form, and options of one field: people fill in no more. */
  maxFields: 20,
  maxOptions: 100,
  /** UTF-16 units of the message, and of any other text of the form. */
  maxMessageChars: 4_000,
  maxTextChars: 500,
} as const;

/** JSON Schemas that strangers wrote. */
export const SCHEMA_LIMITS = {
  /** Schemas applied in one check: a list of ten thousand entries takes some ten thousand, in some 50 ms. */
  maxSteps: 100_000,
} as const;

/** The socket between a bridge and its tunnel object. */
export const TUNNEL_LIMITS = {
  /** Bytes of one frame; the platform takes 32 MiB. */
  maxFrameBytes: 4 * MIB,
  /** How long an edge waits for what a person asks of the bridge itself. A bridge ends a process within 5 s. */
  answerMs: 8 * SECOND,
  /** A connection without an answer for this long is dead: two missed pings. */
  deadMs: 60 * SECOND,
  /** How long a person's permission to move a bridge counts: a person gives it right before. */
  moveMs: 10 * MINUTE,
  /** Settled and cancelled calls that a tunnel remembers, as messages can overtake each other: far more than run. */
  maxSettled: 1_000,
  /** UTF-16 units of a short text in a frame: a code, a reason. */
  maxTextChars: 2_000,
  /** Tools that a bridge can offer. */
  maxTools: 200,
  /** Open calls of guests at one bridge: a guest waits for one answer before it asks again, and few run at once. */
  maxGuestCalls: 16,
  /** Ids in one frame that lists the journal's calls: 0.4 MB. A longer list takes several frames. */
  maxListedCalls: 10_000,
} as const;

/** The accounts that a machine lets in beside the owner of its bridge. */
export const GRANT_LIMITS = {
  /** Of one bridge: a team, and some apps. */
  maxGrants: 100,
  /** UTF-16 units of a name: the longest of an app's user has 165. */
  maxNameChars: 200,
  /** Bridges of others in one account's list: any owner can add one. */
  maxShared: 100,
} as const;

/** What a bridge shows people of its owner's files. */
export const POLICY_LIMITS = {
  /** Rules: more than a person reads. Answers add one or two each. */
  maxRules: 200,
  /** UTF-16 units of a pattern: some lines on a phone. */
  maxPatternChars: 400,
  /** Permissions that a rule can name: there are three. */
  maxPermissions: 8,
  /** Files that can be wrong: the rules, and the grants. UTF-16 units of the sentence about each. */
  maxProblems: 2,
  maxProblemChars: 1_000,
} as const;

/** The description of the machine that a bridge sends. */
export const CONTEXT_LIMITS = {
  /** Entries of the file tree: enough for orientation, at a few thousand tokens. */
  maxLayoutEntries: 400,
  /** UTF-16 units of the file tree. */
  maxLayoutChars: 12_000,
  /** How long a run waits for a look at the workspace, which usually takes 20 to 100 ms. */
  waitMs: 300,
  /** The time for listing the files, and for asking git: both happen between the handshake and the hello. */
  lookTimeoutMs: 5 * SECOND,
} as const;

/** The places that a message names behind an `@`. */
export const MENTION_LIMITS = {
  /** Mentions of one message that are looked up: a person names a few. */
  maxMentions: 20,
  /** UTF-16 units of an address: browsers and servers take some 2,000. */
  maxUrlChars: 2_000,
} as const;

/** The search for files of a workspace, for a person who writes a mention. */
export const FILE_SEARCH_LIMITS = {
  /** UTF-16 units of what is searched for: a person types a part of a path. */
  maxQueryChars: 200,
  /** Found files by default, and at most: a person reads some ten. */
  defaultItems: 20,
  maxItems: 50,
} as const;

/** What a look finds for one message. It is part of the run's row. Lengths are in UTF-16 units. */
export const FINDING_LIMITS = {
  /** One attached file, folder or page: some 600 lines. */
  maxAttachedChars: 24 * KIB,
  /** A file that the person looks at, and the difference of one that others changed. */
  maxFileChars: 16 * KIB,
  /** Files in an editor whose content the model gets: the active one, and some that the person was at before. */
  maxShownFiles: 4,
  /** Changed files with their difference, and others that are only named. */
  maxChangedFiles: 20,
  maxTouchedFiles: 50,
  /** Errors and warnings of an editor, and the length of one message: more are fixed one after another anyway. */
  maxDiagnostics: 60,
  maxDiagnosticChars: 500,
  /** Passages that a search for a message's words adds to it, and the length of one: 2,000 tokens with all. */
  maxPassages: 6,
  maxPassageChars: 6_000,
  /** The beginning of a message that is searched for. */
  maxQueryChars: 2_000,
  /** How long it waits for a look with mentions: a file takes milliseconds, a page as long as its server. */
  waitMs: 2 * SECOND,
  waitForPageMs: 8 * SECOND,
} as const;

/** The rule files that a bridge reads for the model. Lengths are in UTF-16 units. */
export const RULE_FILE_LIMITS = {
  /** Rules of one workspace: the largest public collections have some 100. */
  maxFiles: 200,
  /** One rule with the files that it includes: 500 lines are advised at most. */
  maxRuleChars: 24 * KIB,
  /** All rules together: a quarter of a usual model's window. They are part of each run's row. */
  maxTotalChars: 96 * KIB,
  /** What a rule says that it is for. */
  maxDescriptionChars: 500,
  /** Patterns of one rule, and the length of each. */
  maxGlobs: 50,
  maxGlobChars: 200,
  /** Notes about one rule (a cut, a missing file), and the length of each. */
  maxNotes: 5,
  maxNoteChars: 300,
  /** Files that are named as left out. */
  maxLeftOut: 50,
} as const;

/** The modes and agents that the files of a workspace define. */
export const DEFINITION_LIMITS = {
  /** Files that are read: the largest public collections of agents have some 100, and a project uses ten. */
  maxFiles: 100,
  /** Modes, and agents, of one workspace: the model reads a line for each agent. */
  maxModes: 32,
  maxAgents: 64,
  maxNameChars: 64,
  maxDescriptionChars: 1_000,
  /** The text of one definition, and of all together. They are part of each run's row. */
  maxTextChars: 16 * KIB,
  maxTotalChars: 64 * KIB,
  maxTools: 100,
  /** Files that are named as left out, and the length of each reason. */
  maxLeftOut: 50,
  maxNoteChars: 300,
} as const;

/** The skills and commands of a workspace and of its owner. Lengths are in UTF-16 units. */
export const SKILL_LIMITS = {
  /** Skills and commands that one bridge knows: the largest collections have some 150. */
  maxSkills: 200,
  maxNameChars: 64,
  /** Tokens of a skill's name and description, which each first message of a window has. */
  maxTokens: 100,
  /** A description of that many tokens in English. */
  maxDescriptionChars: 400,
  /** All descriptions together, as the model reads them: 5,000 tokens. */
  maxCatalogueChars: 20_000,
  /** What follows the name behind `/`: the message has it whole. */
  maxArgsChars: 8_000,
  maxHintChars: 120,
  /** Files that are named as left out, and the length of each reason. */
  maxLeftOut: 50,
  maxNoteChars: 300,
} as const;

/** Live output of a command. */
export const OUTPUT_LIMITS = {
  /** Output is collected for `coalesceMs`, or up to `coalesceChars` UTF-16 units, before it is sent. */
  coalesceMs: 250,
  coalesceChars: 16 * KIB,
  /** UTF-16 units of live output of one call. The result still has head and tail. */
  maxLiveChars: 256 * KIB,
} as const;

/** The tools on the developer's machine. */
export const TOOL_LIMITS = {
  /** Directories of one search: a question about more concerns the workspace. Each directory is searched separately. */
  maxSearchedPlaces: 10,
  /** Bytes of a file that a tool reads or edits as a whole. */
  maxFileBytes: 20 * MIB,
  /** Lines of a read without a limit, and UTF-16 units of one line. */
  maxReadLines: 2_000,
  maxLineChars: 2_000,
  /** UTF-16 units of one tool result. */
  maxResultChars: 50_000,
  /** Entries of a directory listing, and of a file search. */
  maxEntries: 1_000,
  /** Matching lines of a text search without a limit. */
  maxMatches: 200,
  /** Pieces that one call replaces in a file: a rename takes replace_all, and more are a new file. */
  maxPieces: 100,
  /** Files that one call checks: each takes a server up to some seconds. */
  maxLintedFiles: 20,
  /** UTF-16 units of a called name: no API takes a longer function name, so the next request would be refused. */
  maxNameChars: 64,
  /** Allowed paths that the refusal of another path names. */
  maxNamedPaths: 10,
  /** Files remembered as read, and their bytes. The oldest are forgotten and must be read again. */
  maxLedgerFiles: 2_000,
  maxLedgerBytes: 32 * MIB,
} as const;

/** The tools that reach the web. */
export const WEB_TOOL_LIMITS = {
  /** UTF-16 units of a page in one result: some 5,000 tokens, and at most 12,000. */
  defaultPartChars: 20_000,
  maxPartChars: 48_000,
  /** UTF-16 units of a query: search services take some 400. */
  maxQueryChars: 400,
  /** Results of a search: the first page of every service. */
  defaultResults: 8,
  maxResults: 20,
} as const;

/** The tools that run on the edge. Their content is stored and sent as a whole. */
export const EDGE_TOOL_LIMITS = {
  /** Todos of one list: a person cannot oversee more. */
  maxTodos: 100,
  /** Questions asked at once, and options of each question. */
  maxQuestions: 10,
  maxOptions: 10,
  /** UTF-16 units of an id or a name. */
  maxIdChars: 100,
  /** UTF-16 units of a todo, a question, an option, or a plan's overview. */
  maxTodoChars: 2_000,
  /** UTF-16 units of a plan: a long document that fits a row easily. */
  maxPlanChars: 100_000,
  /** UTF-16 units of an edited plan as JSON, with its todos: it must fit a row of the tape and a row of a run. */
  maxWholePlanChars: 250_000,
} as const;

/** What a model says to a subagent. */
export const SUBAGENT_LIMITS = {
  /** UTF-16 units of the name of a task, which people read in one line. */
  maxDescriptionChars: 200,
  /** UTF-16 units of a task: a long document. It is the subagent's first message. */
  maxPromptChars: 100_000,
  /** UTF-16 units of a type's or a model's name. */
  maxNameChars: 200,
} as const;

/** Commands on the developer's machine. */
export const COMMAND_LIMITS = {
  /** UTF-16 units of a command line. */
  maxCommandChars: 32 * KIB,
  /** UTF-16 units of the patterns of one answer: a person reads them. */
  maxAnswerPatternChars: 4 * KIB,
  /** Hosts that a command names beside the registries: a person reads each of them. */
  maxHosts: 10,
  /** UTF-16 units of a host with its port: the longest name has 253. */
  maxHostChars: 260,
  defaultTimeoutMs: 2 * MINUTE,
  maxTimeoutMs: 10 * MINUTE,
  /** From SIGTERM to SIGKILL. */
  killGraceMs: 2 * SECOND,
  /** UTF-16 units of one input to a process, and of a pattern to wait for. */
  maxInputChars: 64 * KIB,
  maxPatternChars: 1_000,
  /** The time of the sandbox's self-test, which usually takes 0.1 s. A slower machine is not reliable. */
  probeTimeoutMs: 10 * SECOND,
  /** Answers of devices kept for questions that are not asked yet: as many as a reconnected tunnel may bring. */
  maxEarlyAnswers: 100,
} as const;
