/**
 * Takes a command line apart for the rules, roughly. This is for asking, not for enforcing: whoever wants to hide a
 * command from a pattern can (`sh -c`, variables, aliases, scripts). What holds is the sandbox.
 */

export interface CommandLine {
  /** The commands in it, without surrounding space, leading assignments and keywords; never none. */
  readonly commands: readonly string[];
  /** Whether it is only commands, joined by operators: nothing is substituted and no file redirected. */
  readonly isPlain: boolean;
}

/** Never throws; what is not understood is not plain, and is split too often rather than too seldom. */
export function parseCommandLine(line: string): CommandLine {
  const commands = [''];
  let isPlain = true;
  for (const [token] of line.matchAll(TOKENS)) {
    if (OPERATOR.test(token)) commands.push('');
    else if (SPECIAL.test(token)) {
      commands.push('');
      isPlain = false;
    } else commands[commands.length - 1] += token;
  }
  const named = commands.map(withoutPrefix).filter((command) => command !== '');
  return { commands: named.length > 0 ? named : [line.trim()], isPlain };
}

/** Whether a pattern speaks of several commands at once, and so is meant for whole lines. */
export function spansCommands(pattern: string): boolean {
  return /[;&|\n]/.test(pattern);
}

/** In this order: what looks special and is harmless, operators, what is special, anything else. */
const TOKENS = new RegExp(
  [
    /\\[\s\S]/,
    /'[^']*'/,
    /"(?:[^"\\`$]|\\[\s\S]|\$(?!\())*"/,
    /\d?>&\d/,
    /(?:\d|&)?>{1,2} ?\/dev\/null(?![^\s;&|)])/,
    /[;&|\n]+/,
    /\$\(|[`()<>"']/,
    /[\s\S]/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

const OPERATOR = /^[;&|\n]+$/;
const SPECIAL = /^(?:\$\(|[`()<>"'])$/;

/** `A=1 git push`, `then git push` and `{ git push` are all `git push`. */
function withoutPrefix(command: string): string {
  return command
    .trim()
    .replace(
      /^(?:(?:\w+=\S*|!|\{|\}|if|then|elif|else|while|until|do|done|fi|time)(?:\s+|$))+/,
      '',
    );
}
