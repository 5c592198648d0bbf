/** The exit codes of the commands. */

export const EXIT = {
  success: 0,
  failure: 1,
  usage: 2,
  /** The run waits for an answer, and there is no terminal to ask at. */
  waiting: 3,
  /** From here on, 128 plus a signal's number: a shell reports this for a program that the signal ended. */
  interrupted: 130,
  unread: 141,
  terminated: 143,
} as const;

/** The end of a command's help. */
export const EXIT_HELP = `
Exit codes:
  0    success
  1    the command failed; stderr says why
  2    the command was refused, or its words are wrong; stderr says why`;

/** The end of the help of `chat`. */
export const CHAT_EXIT_HELP = `${EXIT_HELP}
  3    the agent waits for an answer, and there is no terminal to ask at
  130  ended by Ctrl-C: the first cancels the answer, the second leaves at once
  141  the reader of the output exited; the agent continues
  143  cancelled by SIGTERM`;
