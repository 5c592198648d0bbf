/** The limits of a local instance. */
import { KIB, MIB, MINUTE, SECOND } from '../shared/units.ts';

/** The limits of a local server. */
export const LOCAL_LIMITS = {
  /** Lifetime of a user's token. A command in its last day (`renewTokenMs`) renews it: only an unused token expires. */
  userTokenMs: 30 * 24 * 60 * MINUTE,
  renewTokenMs: 24 * 60 * MINUTE,
  /** Lifetime of a token for one command of a server's operator. */
  operatorTokenMs: 5 * MINUTE,
  /** Lifetime of a bridge's token that a person makes. */
  bridgeTokenMs: 30 * 24 * 60 * MINUTE,
  /**
   * Lifetime of the token that each start of a bridge's process gets from its own server. The process starts again at
   * the end of it, which ends running commands: longer than a machine runs, and no longer than the Worker takes.
   */
  ownBridgeTokenMs: 365 * 24 * 60 * MINUTE,
  /** How long before the end of a token a person is warned: a weekend, and a day. */
  tokenWarnMs: 3 * 24 * 60 * MINUTE,
  /** From the Worker's start to its first healthy answer, usually a tenth of a second; and between two checks. */
  healthyMs: 30 * SECOND,
  healthPollMs: 25,
  /** How long a Worker that has started is asked to wake its runs. Afterwards the alarms of the runs have come. */
  wakeMs: MINUTE,
  /**
   * Between two looks for what deleted accounts have left behind; after one that failed, which is also its time limit;
   * and between two requests of one look (LEFT_LIMITS has the reason).
   */
  sweepMs: 60 * MINUTE,
  sweepAgainMs: MINUTE,
  sweepPauseMs: SECOND,
  /** From the start of the bridge to its welcome; the bridge tests the sandbox first. */
  bridgeReadyMs: 30 * SECOND,
  /** This many deaths within the window are a crash loop: another restart does not help. */
  crashWindowMs: 10 * SECOND,
  maxCrashes: 5,
  /** The wait before the second restart within the window, doubled for each further one. The first has no wait. */
  restartMs: 100,
  /** From SIGTERM to SIGKILL. The Worker would wait for open streams; SIGKILL loses no data. */
  workerGraceMs: 500,
  /** From SIGTERM, or the order to end, to SIGKILL. The bridge needs time to end its commands: see COMMAND_LIMITS.killGraceMs. */
  bridgeGraceMs: 5 * SECOND,
  /** From a request on the control socket to its answer: a bit more than a folder's bridge takes to connect. */
  controlMs: 40 * SECOND,
  /** Characters of a request: mostly a project's environment. */
  maxControlChars: MIB,
  /** Bytes of a socket's path: macOS allows 104 with the end mark, Linux 108. */
  maxSocketPathBytes: 103,
  /** From the start of the background server to its first answer, and between two looks for it. */
  serverStartMs: 30 * SECOND,
  serverPollMs: 25,
  /** Attempts to join or start a server, while others start and end it at the same time. */
  maxServerStarts: 3,
  /** From the request to end to the end of the server: its bridges first, then the Worker. */
  serverEndMs: 15 * SECOND,
  /** Notices that `drawbridge status` shows. */
  maxNotices: 20,
  /** Between two looks at a project's folder that is missing. */
  missingPollMs: 5 * SECOND,
  /** Between two checks of the state folder; and the free bytes of its disk below which its owner is warned. */
  stateWatchMs: SECOND,
  minFreeBytes: 2 * MIB,
  /** Backups that upgrades have made. The newest stay: one to go back to, and one more where that one is no good. */
  maxUpgradeBackups: 2,
  /** How long a process waits while another one upgrades the state: some seconds for a gigabyte; and between two looks. */
  upgradeWaitMs: 60 * SECOND,
  upgradePollMs: 50,
  /** How long processes may take to stand still for a backup. */
  stopMs: 2 * SECOND,
  /** Pauses of one backup: one, and one more for each start of a Worker or a bridge in the middle of it. */
  maxPauses: 4,
  /** Databases that a check of the state has open at once: each is three files of the some hundred that a process may have. */
  checkedAtOnce: 24,
  /** The coarsest clock of a file system in use (FAT); others have steps of some milliseconds. */
  fileClockMs: 2 * SECOND,
  /** The age of the copy of a backup that was killed: longer than a backup takes. */
  staleCopyMs: 24 * 60 * MINUTE,
  /** Bytes of a log file before it is renamed to `.old`. One old file is kept. */
  maxLogBytes: 5 * MIB,
  /** UTF-16 units of the log's end that are shown if the Worker keeps dying. */
  maxLogTailChars: 4 * KIB,
  /** UTF-16 units of a program's output without the end of a line, before they count as one: no line of ours is as long. */
  maxLineChars: 64 * KIB,
  /** How long a command of config.json may take to print a key: a person may have to unlock a store of passwords. */
  keyCommandMs: 60 * SECOND,
  /** UTF-16 units of a key. Signed tokens, the longest keys, have some thousands. */
  maxKeyChars: 16 * KIB,
  /** How long a model server on this machine may take to list its models: a person waits for it. */
  probeMs: 300,
  /** The same for a server elsewhere whose URL the person has just typed, and UTF-16 units of such a list. */
  modelListMs: 3 * SECOND,
  maxModelListChars: MIB,
  /** UTF-16 units of a path or a word of a command in config.json, and the words of one command. */
  maxConfigWordChars: 4 * KIB,
  maxConfigWords: 64,
} as const;
