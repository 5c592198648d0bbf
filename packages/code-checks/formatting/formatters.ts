/** Formats what an edit would write, before a person is asked and before it is written. */
import { relative } from 'node:path';
import { sha256 } from '../../../machine/hash.ts';
import { shellWord } from '../../../machine/shell-word.ts';
import { inOneLine, shorten } from '../../../shared/text/plain-sight.ts';
import { type FilterEnd, type FilterFailure, runFilter } from '../../sandbox/index.ts';
import type { ConfinedPlace } from '../confined.ts';
import { SERVER_VARIABLES } from '../known-servers.ts';
import { FORMATTING_LIMITS } from './limits.ts';
import { chooseFormatter, type OwnFormatter } from './own-list.ts';

/** A file with the text that an edit would give it. */
export interface UnformattedText {
  /** The call that would write it. The same text in the same call is formatted once, so that its proposal stays the same. */
  readonly callId: string;
  /** Absolute and resolved. */
  readonly path: string;
  readonly text: string;
}

/** The outcome for an edit. `none`: the owner has no formatter for the file. */
export type Formatting =
  | { readonly state: 'none' }
  | { readonly state: 'formatted'; readonly by: string; readonly text: string }
  | { readonly state: 'failed'; readonly reason: string };

/** The owner's formatters for one folder. */
export class Formatters {
  readonly #place: ConfinedPlace;
  readonly #holdMs: number;
  /** The one unused for longest comes first. */
  readonly #known = new Map<string, Formatting>();
  #late = 0;
  #pausedUntilMs = 0;

  /** `holdMs`: how long an edit waits at most. */
  constructor(place: ConfinedPlace, holdMs: number = FORMATTING_LIMITS.maxHoldMs) {
    this.#place = place;
    this.#holdMs = holdMs;
  }

  /** Rejects only when the signal aborts. */
  async format({ callId, path, text }: UnformattedText, signal: AbortSignal): Promise<Formatting> {
    const { root, stateDir } = this.#place;
    const choice = await chooseFormatter(stateDir, relative(root, path));
    if (choice.state === 'none') return choice;
    if (choice.state === 'unreadable') return { state: 'failed', reason: choice.reason };
    const { formatter } = choice;
    const key = sha256([callId, path, text, ...formatter.words].join('\0'));
    const known = this.#known.get(key) ?? (await this.#run(formatter, text, signal));
    signal.throwIfAborted();
    this.#known.delete(key);
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > FORMATTING_LIMITS.maxRemembered) {
      this.#known.delete(oldest);
    }
    return known;
  }

  async #run(formatter: OwnFormatter, text: string, signal: AbortSignal): Promise<Formatting> {
    const { name } = formatter;
    const failed = (why: string): Formatting => ({ state: 'failed', reason: `${name}: ${why}` });
    const whyNot = this.#whyNot(text);
    if (whyNot !== undefined) return failed(whyNot);
    const end = await this.#output(formatter, text, signal);
    this.#late = end.state === 'late' && !signal.aborted ? this.#late + 1 : 0;
    if (this.#late >= FORMATTING_LIMITS.maxLate) {
      this.#late = 0;
      this.#pausedUntilMs = Date.now() + FORMATTING_LIMITS.pauseMs;
    }
    if (end.state !== 'ended') return failed(end.reason);
    const formatted = readOutput(end, text);
    if (formatted.state === 'wrong') return failed(formatted.reason);
    return { state: 'formatted', by: name, text: formatted.text };
  }

  #whyNot(text: string): string | undefined {
    const { confinement, isDistrusted } = this.#place;
    if (confinement.kind === 'none') {
      return `it runs only in the sandbox, and there is none (${confinement.detail})`;
    }
    if (isDistrusted()) return 'the editor does not trust this folder';
    if (Date.now() < this.#pausedUntilMs) return PAUSED;
    const isLarge = Buffer.byteLength(text) > FORMATTING_LIMITS.maxTextBytes;
    return isLarge ? 'the file is too large' : undefined;
  }

  /**
   * A formatter runs code of the project (plugins, settings, itself), which the agent can write. So it never runs outside
   * the sandbox, and there it can write nothing of the workspace and has no network.
   */
  async #output(
    { words }: OwnFormatter,
    text: string,
    signal: AbortSignal,
  ): Promise<FilterEnd | FilterFailure> {
    const { confinement, root } = this.#place;
    const { maxOutputBytes, maxReasonChars } = FORMATTING_LIMITS;
    const filter = {
      command: `exec ${words.map(shellWord).join(' ')}`,
      cwd: root,
      variables: SERVER_VARIABLES,
      input: text,
      maxOutputBytes,
      maxErrorChars: maxReasonChars,
    };
    const over = AbortSignal.any([signal, AbortSignal.timeout(this.#holdMs)]);
    return await runFilter(confinement, filter, over);
  }
}

const PAUSED = 'it was too slow three times; it is not used for a minute';

/** The formatted text, or why the output is none. */
function readOutput(
  { code, output, errors }: FilterEnd,
  input: string,
): { readonly state: 'right'; readonly text: string } | { state: 'wrong'; reason: string } {
  if (code !== 0) {
    const said = shorten(inOneLine(errors.trim()), FORMATTING_LIMITS.maxReasonChars);
    const ended = code === null ? 'it was stopped' : `it ended with exit code ${code}`;
    return { state: 'wrong', reason: said === '' ? ended : `${ended}: ${said}` };
  }
  const text = readUtf8(output);
  if (text === null) return { state: 'wrong', reason: 'its output is not text' };
  const isGone = text.trim() === '' && input.trim() !== '';
  return isGone ? { state: 'wrong', reason: 'it printed nothing' } : { state: 'right', text };
}

/** Without a byte order mark: the file keeps its own. Null for what is no text. */
function readUtf8(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null; // Bytes that are no UTF-8.
  }
}
