/** What goes on, in one line: a person who waits always sees for what. */
import { type Component, truncateToWidth } from '@earendil-works/pi-tui';
import type { ChatResponse, Document } from '../../../client/index.ts';
import { waitSentence } from '../../../shared/shown/waits.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { SECOND } from '../../../shared/units.ts';
import { isOver } from '../../../shared/wire/fold.ts';
import type { ChatSession } from '../../chat/session.ts';
import type { Paint } from '../../terminal/paint.ts';

/** What the session is at. Undefined while nothing goes on. */
function activityOf(session: ChatSession, nowMs: number): string | undefined {
  const { current, lostMs, unsent, problem, queued } = session;
  if (problem) return `This conversation cannot be followed: ${problem.message}`;
  if (lostMs !== undefined) return `Connection lost; trying again (${seconds(nowMs - lostMs)})`;
  const late = unsent.find(({ why }) => why !== undefined);
  if (late) return `Not sent yet: ${late.why}`;
  if (unsent.length > 0 && !isRunning(current)) return 'Sending';
  if (!current || isOver(current.status))
    return queued.length > 0 ? 'Waiting in the queue' : undefined;
  const time = seconds(nowMs - Date.parse(current.created));
  return [workOf(current, nowMs), time, ...tokensOf(current)].join(' · ');
}

/** What the model has written so far, by its length: servers count only at the end. */
function tokensOf({ documents }: ChatResponse): string[] {
  const chars = documents.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
  return chars < CHARS_OF_TOKEN ? [] : [`about ${Math.round(chars / CHARS_OF_TOKEN)} tokens`];
}

/** English text and code, roughly. */
const CHARS_OF_TOKEN = 4;

function isRunning(response: ChatResponse | undefined): boolean {
  return response !== undefined && !isOver(response.status);
}

function workOf({ status, documents, model, metadata }: ChatResponse, nowMs: number): string {
  if (status === 'waiting') return 'Waiting for you';
  if (metadata.wait) return waitSentence(metadata.wait, nowMs);
  const last = documents.at(-1);
  return (last && WORK[last.type]?.(last)) ?? `Asking ${model}`;
}

const WORK: Readonly<Partial<Record<string, (document: Document) => string | undefined>>> = {
  text: () => 'Writing',
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
    const words = activityOf(this.#session(), nowMs);
    if (words === undefined) return [''];
    const mark = SPINNER[Math.floor(nowMs / SPIN_MS) % SPINNER.length];
    const key = this.#stopKey();
    const hint = key === undefined ? '' : this.#paint('dim', ` (${key} stops it)`);
    return ['', truncateToWidth(`${this.#paint('cyan', `${mark} ${words}`)}${hint}`, width, '…')];
  }
}

const SPINNER = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];

/** How long a sign of life stands. The screen is drawn this often while something goes on. */
export const SPIN_MS = 125;
