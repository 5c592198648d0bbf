/**
 * Reads a person's typing at a terminal. An answer is always typed after its question was shown. Earlier typing becomes
 * a message, or is dropped.
 */

import { createInterface, type Interface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { newDeferred } from './deferred.ts';
import { LEAVE_PASTES_UNMARKED, MARK_PASTES, type PastePiece, PasteReader } from './pastes.ts';

const TYPING_LIMITS = {
  /** Milliseconds without a key after which a burst of keys is complete. It is longer than the gaps within a paste. */
  quietMs: 60,
  /** The same inside a marked paste whose end is still to come. */
  pasteMs: 2_000,
} as const;

/** A terminal's input. A stream that only claims to be a terminal has no modes. */
export type KeyInput = NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown };
export type KeyOutput = NodeJS.WritableStream & { readonly columns?: number };

export interface KeyboardOptions {
  readonly input: KeyInput;
  readonly output: KeyOutput;
  /** Called for Ctrl-C. When it returns false, Ctrl-C sends the usual signal. */
  onInterrupt(): boolean;
}

/** What was typed before anybody read it. */
export interface Typed {
  readonly messages: readonly string[];
  readonly begun: string;
  readonly hasEnded: boolean;
}

/** Turns off the terminal's own line editing while a caller listens or a question is open. */
export class Keyboard {
  readonly #options: KeyboardOptions;
  readonly #screen: KeyboardScreen;
  readonly #decoder = new StringDecoder('utf8');
  readonly #pastes = new PasteReader();
  #holders = 0;
  #editor: LineEditor;
  /** Lines of the unfinished entry, above the line in the editor. */
  #lines: string[] = [];
  /** Finished entries that were not read yet. Null is the end of the input (Ctrl-D). */
  #kept: (string | null)[] = [];
  /** Whether the person knows that all of them wait. */
  #isKeptTold = false;
  /** Takes the next entry while a prompt is shown. */
  #onEntry: ((entry: string | null) => void) | null = null;
  /** Set while many keys come at once. An Enter then is a line end in a paste. */
  #burst: NodeJS.Timeout | null = null;
  #onQuiet: () => void = () => {};
  #endsWithEnter = false;
  /** Whether the unfinished entry was begun for a question that was withdrawn. */
  #isStale = false;
  #hasEnded = false;
  #arrivals = 0;
  #history: string[] = [];

  constructor(options: KeyboardOptions) {
    this.#options = options;
    this.#screen = new KeyboardScreen(options.output);
    this.#editor = this.#newEditor();
  }

  /** Keeps everything typed from now on for {@link readMessage}, until this is disposed of. */
  listen(): Disposable {
    if (this.#holders++ === 0) this.#take();
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld && --this.#holders === 0) this.#release();
        isHeld = false;
      },
    };
  }

  /** Leaves the terminal to another program until this is disposed of. What is typed then is that program's. */
  lend(): Disposable {
    if (this.#holders === 0) return { [Symbol.dispose]: () => {} };
    this.#leave();
    return { [Symbol.dispose]: () => this.#take() };
  }

  /**
   * Takes everything that was typed and not read, for another reader of the terminal: finished entries, and the entry
   * that was begun. `hasEnded` after Ctrl-D. Waits until a paste under way is complete.
   */
  async takeTyped(): Promise<Typed> {
    await this.#settle();
    const kept = this.#kept.splice(0);
    const begun = [...this.#lines.splice(0), this.#editor.lines.line].join('\n');
    this.#restart(false, '');
    const messages = kept.filter((entry) => entry !== null);
    return { messages, begun, hasEnded: this.#hasEnded || messages.length < kept.length };
  }

  /** The next message, typed earlier or now. Undefined at the end of the input. */
  async readMessage(prompt: string): Promise<string | undefined> {
    using _ = this.listen();
    await this.#settle();
    this.#isStale = false;
    const kept = this.#kept.shift();
    if (kept === undefined) return await this.#prompt(prompt);
    this.#options.output.write(`${prompt}${kept ?? ''}\n`);
    return kept ?? undefined;
  }

  /**
   * The text typed after the prompt is shown. Undefined when the input ends or the signal withdraws the question. Text
   * typed earlier is kept as a message where a caller listens, and dropped elsewhere. A line begun earlier is finished
   * first, so that its end does not become the answer. `above` is written just before the prompt. What is typed for a
   * `hidden` one is neither shown nor kept in the history.
   */
  async ask(
    prompt: string,
    signal?: AbortSignal,
    { above = '', hidden = false }: { readonly above?: string; readonly hidden?: boolean } = {},
  ): Promise<string | undefined> {
    const isHeardAnyway = this.#holders > 0;
    using _ = this.listen();
    await this.#settle();
    const isBegun = isHeardAnyway ? await this.#keepEarly(signal) : this.#dropEarly();
    if (signal?.aborted) return undefined;
    this.#options.output.write(above);
    if (isBegun && !(await this.#dropLine(prompt, signal))) return undefined;
    const answer = await this.#prompt(prompt, signal, hidden);
    this.#isStale = signal?.aborted === true && this.#isBegun;
    return answer;
  }

  /** Writes a line above the open prompt, and shows the prompt again below it. */
  writeAbove(text: string): void {
    const { output } = this.#options;
    if (this.#onEntry === null) return void output.write(text);
    output.write(`\r\x1b[J${text}`);
    this.#editor.lines.prompt(true);
  }

  /** Ends the open question as the end of the input does. */
  closeQuestion(): void {
    this.#onEntry?.(null);
  }

  get #isBegun(): boolean {
    return this.#lines.length > 0 || this.#editor.lines.line !== '';
  }

  /** Keeps or finishes text typed before the question. Returns whether a line is still unfinished. */
  async #keepEarly(signal: AbortSignal | undefined): Promise<boolean> {
    // An earlier Ctrl-D was not meant for this question.
    this.#kept = this.#kept.filter((entry) => entry !== null);
    if (this.#kept.length > 0 && !this.#isKeptTold) this.#say(KEPT);
    this.#isKeptTold = true;
    if (!this.#isBegun) return false;
    this.#say(this.#isStale ? FINISH_STALE : FINISH_FIRST);
    const line = await this.#prompt('> ', signal);
    if (line === undefined) return this.#isBegun;
    if (!this.#isStale && line.trim() !== '') this.#kept.push(line);
    this.#isStale = false;
    return false;
  }

  /** Drops text typed before the question. Returns whether a line was begun whose end is still to come. */
  #dropEarly(): boolean {
    const isBegun = this.#isBegun || this.#isStale;
    if (isBegun || this.#kept.length > 0) this.#say(DROPPED);
    this.#kept = [];
    this.#lines = [];
    this.#restart(false, '');
    this.#isStale = isBegun;
    return isBegun;
  }

  /** Waits for the end of a begun line and drops it. False when the question ends first. */
  async #dropLine(prompt: string, signal: AbortSignal | undefined): Promise<boolean> {
    if ((await this.#prompt(prompt, signal)) === undefined) return false;
    this.#isStale = false;
    this.#say(REST_DROPPED);
    return true;
  }

  /** Asks for one entry. The unfinished line already stands in the editor. */
  async #prompt(
    words: string,
    signal?: AbortSignal,
    isHidden = false,
  ): Promise<string | undefined> {
    if (signal?.aborted || this.#hasEnded) return undefined;
    const { line } = this.#editor.lines;
    this.#restart(!isHidden, '');
    const history = this.#history;
    if (isHidden) this.#options.output.write(words);
    this.#editor.lines.setPrompt(words);
    this.#editor.lines.prompt();
    for (const above of this.#lines) this.#options.output.write(`${above}\n`);
    this.#editor.lines.write(line);
    const { promise, resolve } = newDeferred<string | null>();
    const withdraw = () => resolve(null);
    this.#onEntry = resolve;
    signal?.addEventListener('abort', withdraw);
    const entry = await promise;
    signal?.removeEventListener('abort', withdraw);
    this.#onEntry = null;
    if (isHidden) this.#history = history;
    this.#restart(false, this.#editor.lines.line);
    if (entry === null || isHidden) this.#options.output.write('\n');
    return entry ?? undefined;
  }

  /** Replaces the editor by a new one with this line. */
  #restart(isShown: boolean, line: string): void {
    this.#editor.close();
    this.#screen.isShown = isShown;
    this.#editor = this.#newEditor();
    if (line !== '') this.#editor.lines.write(line);
  }

  #newEditor(): LineEditor {
    return newEditor(this.#screen, this.#history, {
      onLine: (line) => this.#finishLine(line),
      onClose: () => this.#endTyping(),
      onHistory: (history) => {
        this.#history = history;
      },
    });
  }

  #finishLine(line: string): void {
    this.#lines.push(line);
    if (this.#burst === null) this.#finish();
  }

  #finish(): void {
    const entry = this.#lines.splice(0).join('\n');
    if (this.#onEntry) return this.#onEntry(entry);
    // A lone Enter is no message. The rest of a withdrawn answer is none either.
    if (entry.trim() !== '' && !this.#isStale) {
      this.#kept.push(entry);
      this.#isKeptTold = false;
    }
    this.#isStale = false;
  }

  /** Ctrl-D: the editor has closed itself. */
  #endTyping(): void {
    this.#editor = this.#newEditor();
    if (this.#onEntry) this.#onEntry(null);
    else this.#kept.push(null);
  }

  #take(): void {
    const { input } = this.#options;
    this.#setModes(true);
    input.on('data', this.#receive).on('end', this.#end).resume();
    process.on('exit', this.#leaveModes);
  }

  #leave(): void {
    const { input } = this.#options;
    input.off('data', this.#receive).off('end', this.#end).pause();
    process.off('exit', this.#leaveModes);
    this.#setModes(false);
  }

  #release(): void {
    this.#leave();
    this.#endBurst();
    this.#lines = [];
    this.#restart(false, '');
  }

  /** In raw mode every key comes at once, so its time is known. Only a real terminal has modes. */
  #setModes(isRaw: boolean): void {
    const { input, output } = this.#options;
    if (!input.setRawMode) return;
    input.setRawMode(isRaw);
    if (process.env['TERM'] !== 'dumb') output.write(isRaw ? MARK_PASTES : LEAVE_PASTES_UNMARKED);
  }

  readonly #leaveModes = () => this.#setModes(false);

  readonly #end = () => {
    this.#hasEnded = true;
    this.#onEntry?.(null);
  };

  readonly #receive = (bytes: Buffer | string) => {
    this.#arrivals++;
    const text = typeof bytes === 'string' ? bytes : this.#decoder.write(bytes);
    const pieces = this.#pastes.read(text);
    const isSingleKey = text.length <= 1 && !this.#pastes.isHolding && !this.#pastes.isPasting;
    if (!isSingleKey || this.#burst !== null) this.#arm();
    for (const piece of pieces) this.#type(piece);
  };

  #type({ type, text }: PastePiece): void {
    this.#endsWithEnter = type === 'typed' && /[\r\n]$/.test(text);
    if (type === 'pasted') return this.#editor.lines.write(text);
    for (const part of text.split(SIGNAL_KEYS)) {
      const signal = SIGNALS.get(part);
      if (signal !== undefined) this.#signal(signal);
      else if (part.length === 1 || HAS_KEYS.test(part)) this.#editor.press(part);
      // Writes all at once: key by key, each key would cost the length of the line.
      else if (part !== '') this.#editor.lines.write(part);
    }
  }

  #arm(): void {
    clearTimeout(this.#burst ?? undefined);
    const { pasteMs, quietMs } = TYPING_LIMITS;
    const waitMs = this.#pastes.isPasting ? pasteMs : quietMs;
    this.#burst = setTimeout(() => void this.#endWhenQuiet(), waitMs);
  }

  /** A timer can be late. Input that came meanwhile must be read first. */
  async #endWhenQuiet(): Promise<void> {
    const seen = this.#arrivals;
    await nextTurn();
    await nextTurn();
    if (seen === this.#arrivals) this.#endBurst();
  }

  #endBurst(): void {
    if (this.#burst === null) return;
    clearTimeout(this.#burst);
    for (const piece of this.#pastes.flush()) this.#type(piece);
    this.#burst = null;
    if (this.#endsWithEnter && this.#lines.length > 0 && this.#editor.lines.line === '') {
      this.#finish();
    }
    this.#onQuiet();
  }

  /** Waits until all input of the terminal is read and no paste is under way. */
  async #settle(): Promise<void> {
    for (;;) {
      const seen = this.#arrivals;
      await nextTurn();
      await nextTurn();
      if (this.#burst !== null) {
        await new Promise<void>((resolve) => {
          this.#onQuiet = resolve;
        });
      } else if (seen === this.#arrivals) return;
    }
  }

  #signal(name: NodeJS.Signals): void {
    if (name === 'SIGINT' && this.#options.onInterrupt()) return;
    this.#setModes(false);
    if (name === 'SIGTSTP') {
      process.once('SIGCONT', () => {
        if (this.#holders === 0) return;
        this.#setModes(true);
        if (this.#screen.isShown) this.#editor.lines.prompt(true);
      });
    }
    signalAll(name);
  }

  #say(words: string): void {
    this.#options.output.write(`(${words})\n`);
  }
}

/** Sends the signal as a terminal would: to every program of the job. */
export function signalAll(name: NodeJS.Signals): void {
  process.kill(0, name);
}

const KEPT = 'What you typed before this question is kept as your next message.';
const FINISH_FIRST =
  'You had started a line: Enter keeps it as your next message, Ctrl-U clears it. Then answer.';
const FINISH_STALE =
  'You had started a line for a question that is closed: Enter drops it. Then answer this one.';
const DROPPED = 'Text typed before this question is ignored.';
const REST_DROPPED =
  'That line was started before this question and is ignored, too. Please answer now.';

/** The signals that a terminal sends for these keys when it is not in raw mode. */
const SIGNALS: ReadonlyMap<string, NodeJS.Signals> = new Map([
  ['\x03', 'SIGINT'],
  ['\x1a', 'SIGTSTP'],
  ['\x1c', 'SIGQUIT'],
]);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const SIGNAL_KEYS = /([\x03\x1a\x1c])/;
/** Matches keys other than text, line ends and tabs. */
const HAS_KEYS = /[^\P{Cc}\r\n\t]/u;

/** The line being written, as readline edits it. */
interface LineEditor {
  readonly lines: Interface;
  /** Takes keys as a terminal sends them. */
  press(keys: string): void;
  close(): void;
}

interface EditorEvents {
  onLine(line: string): void;
  /** Called on Ctrl-D, not on `close`. */
  onClose(): void;
  onHistory(history: string[]): void;
}

function newEditor(
  screen: KeyboardScreen,
  history: readonly string[],
  events: EditorEvents,
): LineEditor {
  const keys = new Readable({ read() {} });
  const options = { input: keys, output: screen, terminal: true, history: [...history] };
  const lines = createInterface(options);
  let isOpen = true;
  lines.on('line', events.onLine).on('history', events.onHistory);
  lines.on('close', () => {
    if (isOpen) events.onClose();
  });
  return {
    lines,
    // Emitted instead of pushed, so that a later paste does not overtake it.
    press: (text) => void keys.emit('data', Buffer.from(text)),
    close: () => {
      isOpen = false;
      lines.close();
    },
  };
}

/** The output of editors. It shows nothing while no prompt is open. */
class KeyboardScreen extends Writable {
  isShown = false;
  readonly #output: KeyOutput;

  constructor(output: KeyOutput) {
    super({ decodeStrings: false });
    this.#output = output;
    output.on('resize', () => this.emit('resize'));
  }

  get columns(): number | undefined {
    return this.#output.columns;
  }

  override _write(text: string, _encoding: string, done: () => void): void {
    if (this.isShown) this.#output.write(text);
    done();
  }
}
