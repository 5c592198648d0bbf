/** Calls a person who looks elsewhere: the bell, a notice of the terminal, the title of its window. */

import type { Terminal } from '@earendil-works/pi-tui';
import type { Environment } from '../../../machine/environment.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { isOver } from '../../../shared/wire/fold.ts';
import type { DialogSession } from './dialog.ts';

export interface AttentionOptions {
  readonly terminal: Terminal;
  readonly env: Environment;
  /** Milliseconds that only ever grow. */
  readonly nowMs: () => number;
}

export class Attention {
  readonly #terminal: Terminal;
  readonly #notice: ((words: string) => string) | undefined;
  readonly #nowMs: () => number;
  /** Undefined where the terminal does not report it. */
  #hasFocus: boolean | undefined;
  #known: ReadonlySet<string> = new Set();
  #running: { readonly id: string; readonly sinceMs: number } | undefined;
  #title = '';
  #state = '';
  readonly #restore = () => this.#terminal.write(RESTORE);

  constructor({ terminal, env, nowMs }: AttentionOptions) {
    this.#terminal = terminal;
    this.#notice = noticeOf(env);
    this.#nowMs = nowMs;
  }

  start(): void {
    this.#terminal.write(`${KEEP_TITLE}${REPORT_FOCUS}`);
    this.#title = '';
    process.once('exit', this.#restore);
  }

  /** Leaves the terminal as it was. */
  stop(): void {
    process.off('exit', this.#restore);
    this.#terminal.setProgramStatus({ state: 'clear' });
    this.#state = '';
    this.#restore();
  }

  /** Whether it was no key but a report of the terminal. */
  takes(data: string): boolean {
    if (data !== FOCUS_IN && data !== FOCUS_OUT) return false;
    this.#hasFocus = data === FOCUS_IN;
    return true;
  }

  /** Called after each change of the session. `waiting` names what waits for the person. */
  update(
    session: Pick<DialogSession, 'current' | 'isBusy' | 'view'>,
    waiting: ReadonlySet<string>,
  ): void {
    const isNew = [...waiting].some((key) => !this.#known.has(key));
    this.#known = new Set(waiting);
    const name = printableLine(session.view?.title ?? '', MAX_TITLE) || 'drawbridge';
    if (isNew) this.#call(`A question waits: ${name}`);
    else if (this.#hasEnded(session)) this.#call(`The answer is there: ${name}`);
    this.#setTitle(`${waiting.size > 0 ? '● ' : ''}${name}`);
    this.#setState(waiting.size > 0 ? 'blocked' : session.isBusy ? 'working' : 'idle');
  }

  /** Whether a long answer ended with this change. */
  #hasEnded({ current }: Pick<DialogSession, 'current'>): boolean {
    const running = this.#running;
    if (current && !isOver(current.status)) {
      if (running?.id !== current.id) this.#running = { id: current.id, sinceMs: this.#nowMs() };
      return false;
    }
    this.#running = undefined;
    return running !== undefined && current?.id === running.id
      ? this.#nowMs() - running.sinceMs > LONG_MS
      : false;
  }

  #call(words: string): void {
    if (this.#hasFocus === true) return;
    const notice = this.#hasFocus === false ? (this.#notice?.(words) ?? '') : '';
    this.#terminal.write(`${BELL}${notice}`);
  }

  #setTitle(title: string): void {
    if (title === this.#title) return;
    this.#title = title;
    this.#terminal.setTitle(title);
  }

  #setState(state: 'blocked' | 'idle' | 'working'): void {
    if (state === this.#state) return;
    this.#state = state;
    const kind = state === 'blocked' ? ({ kind: 'question' } as const) : {};
    this.#terminal.setProgramStatus({ app: 'drawbridge', state, ...kind });
  }
}

/** How the terminal is asked for a notice on the desktop; undefined where it is not known to have them. */
function noticeOf({ TERM = '', TERM_PROGRAM = '', VTE_VERSION }: Environment) {
  if (OSC_9_PROGRAMS.has(TERM_PROGRAM) || OSC_9_TERMS.has(TERM))
    return (words: string) => `\x1b]9;${words}${BELL}`;
  if (VTE_VERSION !== undefined || /^(?:foot|rxvt-unicode)/.test(TERM))
    return (words: string) => `\x1b]777;notify;drawbridge;${words.replaceAll(';', ',')}${BELL}`;
  return undefined;
}

const OSC_9_PROGRAMS: ReadonlySet<string> = new Set(['iTerm.app', 'WezTerm', 'ghostty']);
const OSC_9_TERMS: ReadonlySet<string> = new Set(['xterm-kitty', 'xterm-ghostty']);

const BELL = '\x07';
const REPORT_FOCUS = '\x1b[?1004h';
const FOCUS_IN = '\x1b[I';
const FOCUS_OUT = '\x1b[O';
/** The terminal keeps its title, and has it back in the end. */
const KEEP_TITLE = '\x1b[22;0t';
const RESTORE = '\x1b[?1004l\x1b[23;0t';

/** A person waits for a shorter answer. */
const LONG_MS = 10_000;
/** UTF-16 units of a conversation's title. */
const MAX_TITLE = 60;
