/**
 * Takes a command line apart as Bash reads it. The result decides what to ask; it enforces nothing, because a command
 * can hide from a rule (in variables, aliases, scripts). The sandbox enforces.
 */

import { Cursor } from './shell/cursor.ts';
import { RULE_LIMITS } from './shell/limits.ts';
import {
  type HereDocument,
  isRedirection,
  readHereDocument,
  readOperator,
  readRedirection,
} from './shell/redirections.ts';
import { readUntil, readWord, skipArithmetic, type Word, type WordReading } from './shell/words.ts';

export interface Command {
  /** The command as it stands in the line, without leading keywords and assignments. */
  readonly text: string;
  /**
   * Its name and arguments, without quotes and redirections. An expansion that only a shell can work out stays as
   * written.
   */
  readonly words: readonly string[];
  /** The same words, but with such expansions left out: `git $x push` becomes `git push`. */
  readonly certainWords: readonly string[];
  /** The text of here-documents and here-strings: a shell would run it. */
  readonly inputs: readonly string[];
}

export interface CommandLine {
  /** The commands in the line, those in substitutions too. Never empty. */
  readonly commands: readonly Command[];
  /** The line's own commands and the operators between them. */
  readonly parts: readonly (Command | string)[];
  /**
   * Whether the line holds only commands and operators, and every shell reads it as we do. Then nothing is substituted,
   * no file redirected, and no variable set: a variable can change what a command does (`PATH=. npm test`).
   */
  readonly isPlain: boolean;
  /** False when the line ends too early or is too tangled: it may hold commands that are not listed. */
  readonly isWhole: boolean;
}

/** Never throws. A line that we do not understand is not plain. */
export function parseCommandLine(line: string): CommandLine {
  const reader = new CommandReader(line, 0);
  const isWhole = isReadWhole(reader);
  const { commands, parts, cursor } = reader;
  return {
    commands:
      commands.length > 0 ? commands : [{ text: line, words: [], certainWords: [], inputs: [] }],
    parts,
    isPlain: isWhole && cursor.isPlain && !CONTROL_CHARACTER.test(line),
    isWhole,
  };
}

function isReadWhole(reader: CommandReader): boolean {
  try {
    return reader.read();
  } catch (error) {
    if (error instanceof TooTangled) return false;
    throw error;
  }
}

/** Shells use some control characters as marks of their own, even inside quotes. */
const CONTROL_CHARACTER = /[^\P{Cc}\t\n]/u;

const OPERATORS: ReadonlySet<string> = new Set('; ;; ;& ;;& & && | || |& ( ) \n'.split(' '));

/** The operators that only join commands. */
const PLAIN_OPERATORS: ReadonlySet<string> = new Set([';', '&', '&&', '|', '||', '|&', '\n']);

/** They stand before a command's name and change nothing about the command. */
const PLAIN_KEYWORDS: ReadonlySet<string> = new Set(
  '! { } if then elif else while until do done fi'.split(' '),
);

const OTHER_KEYWORDS: ReadonlySet<string> = new Set(
  'time case esac for select function coproc [['.split(' '),
);

const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[\s\S]*?\])?\+?=/;

/** The part of a command that has been read. */
interface CommandDraft {
  /** Where the text begins. Assignments in front count only when nothing else follows. */
  start?: number;
  assignedAt?: number;
  end: number;
  readonly words: string[];
  readonly certainWords: string[];
  readonly inputs: string[];
  /** The last keyword before the command. */
  keyword: string;
  goesToBoth: boolean;
}

/** Thrown for a line that nests too deep or has too many commands. */
class TooTangled extends Error {}

/** Reads a list of commands. Commands inside words go into the same list. */
class CommandReader implements WordReading {
  readonly cursor: Cursor;
  readonly commands: Command[];
  readonly parts: (Command | string)[] = [];
  readonly #pending: { document: HereDocument; inputs: string[] }[] = [];
  #depth: number;
  #isWhole = true;
  #draft = newDraft();

  constructor(line: string, depth: number, commands: Command[] = []) {
    this.cursor = new Cursor(line);
    this.commands = commands;
    this.#depth = depth;
  }

  /** False when the line is cut off. */
  read(): boolean {
    this.#readList('');
    return this.#isWhole;
  }

  readSubstitution(): void {
    const outer = this.#draft;
    this.#draft = newDraft();
    this.readWithin(() => this.#readList(')'));
    this.#draft = outer;
  }

  readBackticked(line: string): void {
    this.readWithin(() => {
      if (!new CommandReader(line, this.#depth, this.commands).read()) this.reportCutOff();
    });
  }

  readText(text: string): void {
    this.readWithin(() => {
      readUntil(new CommandReader(text, this.#depth, this.commands), '', true);
    });
  }

  reportCutOff(): void {
    this.#isWhole = false;
  }

  readWithin(read: () => void): void {
    if (this.#depth === RULE_LIMITS.maxNesting) throw new TooTangled();
    this.#depth++;
    read();
    this.#depth--;
  }

  /** Reads to the end of the line, or to the parenthesis that closes a substitution. */
  #readList(closer: '' | ')'): void {
    const { cursor } = this;
    const open = { parentheses: 0, cases: 0 };
    for (;;) {
      cursor.skipBlanks();
      if (cursor.char === '') {
        if (closer !== '') this.reportCutOff();
        return this.#endCommand();
      }
      const isInner = open.parentheses > 0 || open.cases > 0;
      if (cursor.char === closer && !isInner) {
        this.#endCommand();
        return cursor.step();
      }
      if (cursor.char === '#') this.#skipComment();
      else if (isRedirection(this)) this.#addRedirection();
      else if (';&|()\n'.includes(cursor.char)) {
        const operator = this.#readOperator();
        if (operator === '(') open.parentheses++;
        if (operator === ')' && open.parentheses > 0) open.parentheses--;
      } else {
        const keyword = this.#addWord();
        if (keyword === 'case') open.cases++;
        if (keyword === 'esac' && open.cases > 0) open.cases--;
      }
    }
  }

  #skipComment(): void {
    const { cursor } = this;
    const end = cursor.line.indexOf('\n', cursor.at);
    cursor.isPlain = false;
    cursor.jump(end === -1 ? cursor.line.length : end);
  }

  #addRedirection(): void {
    const draft = this.#draft;
    draft.start ??= this.cursor.at;
    const { isOfBoth, hereDocument, input } = readRedirection(this);
    draft.end = this.cursor.at;
    if (isOfBoth) draft.goesToBoth = true;
    if (input !== undefined) draft.inputs.push(input);
    if (hereDocument) this.#pending.push({ document: hereDocument, inputs: draft.inputs });
  }

  /** Empty for anything but a single operator, for example arithmetic. */
  #readOperator(): string {
    const { cursor } = this;
    this.#endCommand();
    if (skipArithmetic(this)) {
      cursor.isPlain = false;
      return '';
    }
    const operator = readOperator(this, OPERATORS);
    if (!PLAIN_OPERATORS.has(operator)) cursor.isPlain = false;
    if (this.#depth === 0) this.parts.push(operator);
    if (operator === '\n') this.#readHereDocuments();
    return operator;
  }

  #readHereDocuments(): void {
    for (const { document, inputs } of this.#pending.splice(0)) {
      const body = readHereDocument(this, document);
      inputs.push(body);
      if (!document.isQuoted) this.readText(body);
    }
  }

  /** The word if it is a keyword, else an empty text. */
  #addWord(): string {
    const draft = this.#draft;
    const { cursor } = this;
    const { at } = cursor;
    const isBeforeName = draft.words.length === 0;
    const word = readWord(this, isBeforeName);
    if (draft.goesToBoth) cursor.isPlain = false;
    if (isBeforeName && this.#takesKeyword(word)) return word.source;
    if (isBeforeName && ASSIGNMENT.test(word.source)) {
      draft.assignedAt ??= at;
      cursor.isPlain = false;
    } else if (word.source === '{' && NAMING_KEYWORDS.has(draft.keyword)) {
      this.#draft = newDraft(); // What was read is the name of a function.
    } else {
      draft.start ??= at;
      draft.words.push(word.text);
      if (word.certain !== '' || word.text === '') draft.certainWords.push(word.certain);
    }
    draft.end = cursor.at;
    return '';
  }

  #takesKeyword({ source }: Word): boolean {
    const draft = this.#draft;
    const isPlain = PLAIN_KEYWORDS.has(source);
    if (draft.start !== undefined || draft.assignedAt !== undefined) return false;
    if (!isPlain && !OTHER_KEYWORDS.has(source)) return false;
    if (!isPlain) this.cursor.isPlain = false;
    draft.keyword = source;
    return true;
  }

  #endCommand(): void {
    const { start, assignedAt, end, words, certainWords, inputs } = this.#draft;
    const from = start ?? assignedAt;
    this.#draft = newDraft();
    if (from === undefined) return;
    if (this.commands.length === RULE_LIMITS.maxCommands) throw new TooTangled();
    const text = this.cursor.line.slice(from, end);
    const command = { text, words, certainWords, inputs };
    this.commands.push(command);
    if (this.#depth === 0) this.parts.push(command);
  }
}

const NAMING_KEYWORDS: ReadonlySet<string> = new Set(['function', 'coproc']);

function newDraft(): CommandDraft {
  return { end: 0, words: [], certainWords: [], inputs: [], keyword: '', goesToBoth: false };
}
