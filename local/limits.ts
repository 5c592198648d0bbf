/** The limits of what runs on one machine. */

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

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
