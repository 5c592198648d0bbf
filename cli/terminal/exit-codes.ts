/** What the shell is told about how a command ended. */

export const EXIT = {
  success: 0,
  failure: 1,
  usage: 2,
  /** The run waits for an answer that could not be asked for here. */
  waiting: 3,
  /** The rest is 128 and a signal's number, as a shell has it of a program that died of that signal. */
  interrupted: 130,
  unread: 141,
  terminated: 143,
} as const;

/** For the help of every command that talks to the API. */
export const EXIT_HELP = `
Exit codes:
  0    done
  1    it failed; stderr says why
  2    the command line asks for something that cannot be`;

/** For the help of `chat`. */
export const CHAT_EXIT_HELP = `${EXIT_HELP}
  3    a question needs an answer, and there is no terminal to give it; the run waits
  130  cancelled: Ctrl-C once cancels the run, twice leaves it
  141  the reader of the output has left; the run goes on
  143  cancelled by SIGTERM`;
