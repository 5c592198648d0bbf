/** The limits of MCP servers, each with its reason. */
import { KIB, MIB, MINUTE, SECOND } from '../../shared/units.ts';

export const MCP_LIMITS = {
  /** Servers of one bridge: people list five; each is a process. */
  maxServers: 32,
  /** Bytes of one message of a server, and of ours that a server on stdio has not read. */
  maxMessageBytes: 10 * MIB,
  /** From the start of a server to its first list of tools: `npx` may download the server first. */
  connectMs: MINUTE,
  /** Until a program that does not answer the question for its version counts as an old one: it may start slowly. */
  probeMs: 5 * SECOND,
  /** Lines on stdout in a row that are no messages: greetings have ten, a program that speaks no MCP prints for ever. */
  maxStrayLines: 1_000,
  /** From the end of a server's input to the first signal: most end by themselves at once. */
  closeMs: 2 * SECOND,
  /** From the address of a login page to the browser's return: people look for a password. */
  loginMs: 10 * MINUTE,
  /** For a server's list of tools, all pages together. */
  listMs: 30 * SECOND,
  /** Between two lists of a server that reports changes: each new list is a frame to the edge and a row there. */
  relistMs: 2 * SECOND,
  /** Tools of one server that the log names, because they cannot be offered. */
  maxLoggedTools: 10,
  /** Tools, resources and prompts that are read of one server, and pages of each list: fewer are offered. */
  maxTools: 500,
  maxPages: 50,
  /** From a call to its result or to the last progress of it; the owner can set another. */
  callMs: 2 * MINUTE,
  /** A call as a whole, whatever progress it makes: below the edge's own deadline of a call. */
  maxCallMs: 14 * MINUTE,
  /** UTF-16 units of the images of one result, as base64: they fit into the metadata of a result (1 MB). */
  maxImageChars: 900_000,
  /** Between two lines of progress that are passed on: a person reads no faster. */
  progressMs: 250,
  /** UTF-16 units of a line of progress. */
  maxProgressChars: 500,
  /** The wait before a server that stopped is started again, doubled up to the second; one that ran so long starts anew. */
  restartMs: SECOND,
  maxRestartMs: MINUTE,
  steadyMs: MINUTE,
  /** How long a server that stopped keeps its tools on offer: a start takes seconds, a download of `npx` a minute. */
  keepMs: 2 * MINUTE,
  /** How long a call that may be repeated, or was not handed over, waits for its server, and between two looks. */
  repeatMs: 30 * SECOND,
  repeatPollMs: 50,
  /** UTF-16 units of a tool's description: a page; the model reads each with each request. */
  maxDescriptionChars: 8 * KIB,
  /** Lines of a server's complaints (its stderr) that are kept for the owner. */
  maxStderrLines: 20,
  maxStderrLineChars: 500,
  /** Between two looks whether the list of servers has changed. */
  watchMs: 2 * SECOND,
  /** Bytes of the file that lists the servers. */
  maxFileBytes: MIB,
} as const;
