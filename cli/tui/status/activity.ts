/** What goes on, in one line: a person who waits always sees for what. */
import {
  type Component,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from '@earendil-works/pi-tui';
import type { ChatResponse, Document, DocumentType } from '../../../client/index.ts';
import { waitSentence } from '../../../shared/shown/waits.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { SECOND } from '../../../shared/units.ts';
import { isOver } from '../../../shared/wire/fold.ts';
import type { ChatSession } from '../../chat/session.ts';
import { asTyped, ownCommand } from '../../terminal/own-command.ts';
import type { Paint } from '../../terminal/paint.ts';

/** What the session does, and facts about that. A narrow screen shows only the first fact. */
interface SessionActivity {
  readonly work: string;
  readonly facts?: readonly string[];
  /** What the person can do about it. */
  readonly advice?: string | undefined;
}

/** Undefined while nothing goes on. */
function activityOf(session: ChatSession, nowMs: number): SessionActivity | undefined {
  const { current, lostMs, unsent, problem, queued } = session;
  if (problem) return { work: `This conversation cannot be followed: ${asTyped(problem.message)}` };
  if (lostMs !== undefined) return lostActivity(session, nowMs - lostMs);
  const late = unsent.find(({ why }) => why !== undefined);
  if (late) return { work: `Not sent yet: ${late.why}` };
  if (!current || isOver(current.status)) {
    if (unsent.length > 0) return { work: 'Sending' };
    return queued.length > 0 ? { work: 'Waiting in the queue' } : undefined;
  }
  const time = seconds(nowMs - Date.parse(current.created));
  return { work: workOf(current, nowMs), facts: [time, ...tokensOf(current)] };
}

function lostActivity(
  { chat: { url = '', targetWords } }: ChatSession,
  ms: number,
): SessionActivity {
  const start = ownCommand('start', ...targetWords);
  return {
    work: `Connection lost; trying again (${seconds(ms)})`,
    // A restart of the server takes less.
    advice:
      ms >= STOPPED_MS && isOnThisMachine(url)
        ? `If the server has stopped, another terminal starts it: ${start}`
        : undefined,
  };
}

function isOnThisMachine(url: string): boolean {
  return URL.canParse(url) && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
}

/** After this time the server may not come back by itself. */
const STOPPED_MS = 3 * SECOND;

/** What the model has written so far, by its length: servers count only at the end. */
function tokensOf({ documents }: ChatResponse): string[] {
  const chars = documents.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
  return chars < CHARS_OF_TOKEN ? [] : [`about ${Math.round(chars / CHARS_OF_TOKEN)} tokens`];
}

/** English text and code, roughly. */
const CHARS_OF_TOKEN = 4;

function workOf({ status, documents, model, metadata }: ChatResponse, nowMs: number): string {
  if (status === 'waiting') return 'Waiting for you';
  if (metadata.wait) return waitSentence(metadata.wait, nowMs);
  const last = documents.at(-1);
  // A document of a later version has no row.
  return (last && WORK[last.type]?.(last)) ?? `Asking ${model}`;
}

/** What is being done while the document is the last one; undefined once that is finished. */
const WORK: Readonly<Record<DocumentType, (document: Document) => string | undefined>> = {
  text: () => 'Writing',
  code_reference: () => 'Writing',
  code_block: () => 'Writing',
  plan: () => 'Planning',
  reasoning: () => 'Thinking',
  file_edit: ({ metadata }) => `Editing ${line(metadata['filePath'])}`,
  terminal_command: ({ metadata, content }) =>
    metadata['duration_ms'] === undefined
      ? `Running ${line(metadata['command'] ?? content)}`
      : undefined,
  tool_call: ({ metadata }) =>
    metadata['result'] === undefined ? `Running ${line(metadata['toolName'])}` : undefined,
  clarification: () => undefined,
  error: () => undefined,
  todo_update: () => undefined,
};

function line(value: unknown): string {
  return printableLine(String(value ?? ''), MAX_NAME);
}

/** UTF-16 units of a command or a path. */
const MAX_NAME = 60;

function seconds(ms: number): string {
  return `${Math.max(0, Math.floor(ms / SECOND))} s`;
}

/** The line above the composer. */
export class ActivityLine implements Component {
  readonly #session: () => ChatSession;
  readonly #stopKey: () => string | undefined;
  readonly #paint: Paint;

  /** `stopKey` names the key that stops the answer now; undefined if none does. */
  constructor(session: () => ChatSession, stopKey: () => string | undefined, paint: Paint) {
    this.#session = session;
    this.#stopKey = stopKey;
    this.#paint = paint;
  }

  invalidate(): void {}

  render(width: number): string[] {
    const nowMs = Date.now();
    const activity = activityOf(this.#session(), nowMs);
    if (activity === undefined) return [''];
    const { work, facts = [], advice } = activity;
    const mark = SPINNER[Math.floor(nowMs / SPIN_MS) % SPINNER.length];
    const key = this.#stopKey();
    const hint = key === undefined ? '' : ` (${key} stops it)`;
    const half = Math.ceil(width / 2);
    // These are words of the program, each character one column wide.
    const roomBeside = (beside: string) => width - `${mark} ${beside}${hint}`.length;
    const all = listed(facts);
    const isWide = roomBeside(all) >= Math.min(half, visibleWidth(work));
    const about = isWide ? all : listed(facts.slice(0, 1));
    const room = roomBeside(about);
    const shown = truncateToWidth(work, Math.max(half, room), '…');
    // What is cut ends its colour.
    const line = `${this.#paint('cyan', `${mark} ${shown}`)}${this.#paint('cyan', about)}${this.#paint('dim', hint)}`;
    const below = advice === undefined ? [] : wrapTextWithAnsi(advice, width);
    return [
      '',
      room < half ? truncateToWidth(line, width, '…') : line,
      ...below.map((each) => this.#paint('dim', each)),
    ];
  }
}

function listed(facts: readonly string[]): string {
  return facts.map((fact) => ` · ${fact}`).join('');
}

const SPINNER = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];

/** How long a sign of life stands. The screen is drawn this often while something goes on. */
export const SPIN_MS = 125;
