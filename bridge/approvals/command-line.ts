/**
 * Takes a command line apart for the rules, roughly. This is for asking, not for enforcing: whoever wants to hide a
 * command from a pattern can (`sh -c`, variables, aliases, scripts). What holds is the sandbox.
 */

export interface CommandLine {
  /** The commands in it, without surrounding space, leading assignments and keywords; never none. */
  readonly commands: readonly string[];
  /**
   * Whether it is only commands, joined by operators, and read by us as by a shell: nothing is substituted, no file
   * redirected, and no variable set, for one can change what a command does (`PATH=. npm test`).
   */
  readonly isPlain: boolean;
}

/** Never throws; what is not understood is not plain, and is split too often rather than too seldom. */
export function parseCommandLine(line: string): CommandLine {
  const commands = [''];
  let isPlain = true;
  for (const { 0: token, groups } of line.matchAll(TOKENS)) {
    if (groups?.['operator'] !== undefined) commands.push('');
    else if (groups?.['special'] !== undefined) {
      commands.push('');
      isPlain = false;
    } else commands[commands.length - 1] += token;
  }
  const parts = commands.map(takePrefix);
  const named = parts.map(({ command }) => command).filter((command) => command !== '');
  return {
    commands: named.length > 0 ? named : [line.trim()],
    isPlain: isPlain && parts.every(({ setsVariable }) => !setsVariable),
  };
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
    /"(?:[^"\\`$]|\\[\s\S]|\$\{\w+\}|\$(?![({[]))*"/,
    /\$\{\w+\}/,
    /\d?>&\d(?![^\s;&|)])/,
    /(?:\d|&)?>{1,2} ?\/dev\/null(?![^\s;&|)])/,
    /(?<operator>[;&|\n]+)/,
    /(?<special>\$[({['"]|(?<![^\s;&|()<>])#|[`()<>"'])/,
    /[\s\S]/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** `A=1 git push`, `then git push` and `{ git push` are all `git push`. */
function takePrefix(command: string): { command: string; setsVariable: boolean } {
  const trimmed = command.trim();
  const prefix = PREFIX.exec(trimmed)?.[0] ?? '';
  return { command: trimmed.slice(prefix.length), setsVariable: prefix.includes('=') };
}

const ASSIGNMENT = /\w+(?:\[[^\s\]]*\])?\+?=(?:\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|[^\s\\'"])*/;
const KEYWORD = /!|\{|\}|if|then|elif|else|while|until|do|done|fi|time/;
const PREFIX = new RegExp(`^(?:(?:${ASSIGNMENT.source}|${KEYWORD.source})(?:\\s+|$))+`);
