/** Other names of a command, for the rules that forbid or ask: without wrappers, options, paths and quotes. */

import { type Command, type CommandLine, parseCommandLine } from './command-line.ts';
import { RULE_LIMITS } from './shell/limits.ts';

/** Programs that run another command after their options, and the number of operands before that command. */
const WRAPPERS: ReadonlyMap<string, number> = new Map([
  ...'builtin command doas env exec ionice nice nohup parallel setsid stdbuf sudo time watch xargs'
    .split(' ')
    .map((name) => [name, 0] as const),
  ...'chroot flock taskset timeout'.split(' ').map((name) => [name, 1] as const),
  ['find', Number.POSITIVE_INFINITY],
]);

/** Programs that run the operand after `-c`, and their input. */
const SHELLS: ReadonlySet<string> = new Set('ash bash dash fish ksh script sh su zsh'.split(' '));

/** Whether the program runs a command that is among its arguments. */
export function runsOthers(program: string): boolean {
  const name = baseName(program);
  return WRAPPERS.has(name) || SHELLS.has(name) || name === 'eval';
}

/** Undefined for a command that is too tangled to read. */
export type Readings = readonly string[] | undefined;

/**
 * `sudo -u me /usr/bin/git -C . push` is also `git push`. We do not know which options take a value. So an operand
 * after an option counts as the option's value, and also as an operand: a rule may apply too often, never too seldom.
 */
export function readingsOf(command: Command): Readings {
  return textsOf((found) => found.addCommand(command, 0));
}

/** A whole line as one text, with each command as its words or as its last reading. For rules that span commands. */
export function lineReadingsOf({ parts }: CommandLine): Readings {
  return textsOf((found) => {
    const texts = parts.map((part) => (typeof part === 'string' ? [part] : namesOf(part)));
    found.add(texts.map(([asWritten]) => asWritten).join(''));
    found.add(texts.map((names) => names.at(-1)).join(''));
  });
}

function namesOf(command: Command): readonly string[] {
  return [command.words.join(' '), ...(readingsOf(command) ?? [])];
}

/** A program that a command runs, itself or through others. */
export interface RunProgram {
  /** Without its folder. */
  readonly name: string;
  readonly args: readonly string[];
  /** The words in front of it: of a wrapper (`env -C lib`), of which some can name a folder. */
  readonly before: readonly string[];
}

/**
 * The programs that a command runs, in the order of the line, each with all of its words. An expansion stays as it is
 * written, unless it stands where the program's name does. Undefined for a command that is too tangled to read.
 */
export function programsOf(command: Command): readonly RunProgram[] | undefined {
  return collect((found) => found.addCommand(command, 0))?.programs;
}

function textsOf(find: (found: ReadTexts) => void): Readings {
  const found = collect(find);
  return found && [...found.texts];
}

function collect(find: (found: ReadTexts) => void): ReadTexts | undefined {
  const found = new ReadTexts();
  try {
    find(found);
    return found;
  } catch (error) {
    if (error instanceof TooManyReadings) return undefined;
    throw error;
  }
}

class TooManyReadings extends Error {}

class ReadTexts {
  readonly texts = new Set<string>();
  readonly programs: RunProgram[] = [];
  #chars = 0;

  add(text: string): void {
    if (this.texts.has(text)) return;
    this.texts.add(text);
    this.#chars += text.length;
    if (this.#chars > RULE_LIMITS.maxReadingChars) throw new TooManyReadings();
  }

  addCommand({ words, certainWords, inputs }: Command, depth: number): void {
    this.#addWords(words, { inputs, depth, isMeant: true });
    if (certainWords.join(' ') === words.join(' ')) return;
    this.#addWords(certainWords, { inputs, depth, isMeant: words[0] !== certainWords[0] });
  }

  /** `isMeant` as long as the programs count, too. */
  #addWords(
    words: readonly string[],
    { inputs, depth, isMeant }: { inputs: readonly string[]; depth: number; isMeant: boolean },
  ): void {
    const starts = findOperands(words, 0, 0);
    // The loop over a set also visits entries added meanwhile: a wrapper may run another wrapper.
    for (const start of starts) {
      const name = baseName(words[start] ?? '');
      const behind = start + 1;
      if (isMeant) {
        this.programs.push({ name, args: words.slice(behind), before: words.slice(0, start) });
      }
      this.add(words.slice(start).join(' '));
      // Each command of git is also a program of its own.
      if (name.startsWith('git-'))
        this.add(['git', name.slice(4), ...words.slice(behind)].join(' '));
      for (const rest of new Set([behind, ...findOperands(words, behind, 0)])) {
        this.add([name, ...words.slice(rest)].join(' '));
      }
      const skipped = WRAPPERS.get(name);
      const wrapped = skipped === undefined ? [] : findOperands(words, behind, skipped);
      for (const operand of wrapped) starts.add(operand);
      for (const line of linesRunBy(name, words.slice(behind), inputs)) this.#addLine(line, depth);
    }
  }

  #addLine(line: string, depth: number): void {
    const { commands, isWhole } = parseCommandLine(line);
    if (!isWhole || depth === RULE_LIMITS.maxNesting) throw new TooManyReadings();
    for (const command of commands) {
      this.add(command.text);
      this.addCommand(command, depth + 1);
    }
  }
}

/** The positions where the operand after `skipped` others may stand. */
function findOperands(words: readonly string[], from: number, skipped: number): Set<number> {
  const found = new Set<number>();
  const seen = new Set<string>();
  const look = (at: number, left: number): void => {
    const word = words[at];
    if (word === undefined || seen.has(`${at} ${left}`)) return;
    seen.add(`${at} ${left}`);
    if (at - from > RULE_LIMITS.maxWordsBefore) throw new TooManyReadings();
    const isOption = /^[-+]./.test(word);
    if (isOption) look(at + 2, left);
    if (isOption || ASSIGNMENT.test(word)) return look(at + 1, left);
    if (left === 0 || left === Number.POSITIVE_INFINITY) found.add(at);
    if (left > 0) look(at + 1, left - 1);
  };
  look(from, skipped);
  return found;
}

const ASSIGNMENT = /^\w+=/;

function linesRunBy(
  name: string,
  args: readonly string[],
  inputs: readonly string[],
): readonly string[] {
  if (name === 'eval') return [args.join(' ')];
  if (!SHELLS.has(name)) return [];
  const option = args.findIndex((arg) => /^(?:-\w*c\w*|--command)$/.test(arg));
  const operands = option === -1 ? [] : findOperands(args, option + 1, 0);
  return [...inputs, ...[...operands].map((at) => args[at] ?? '')];
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}
