/** A list from which a person picks a line with the arrows or its number. It is drawn in place. */
import type { Readable, Writable } from 'node:stream';
import { newDeferred } from '../../machine/deferred.ts';
import type { Paint } from './paint.ts';

export interface PickSurroundings {
  readonly input: Readable & { setRawMode?(isRaw: boolean): unknown };
  readonly output: Writable;
  readonly paint: Paint;
  readonly columns: number;
  /** Of the screen; the list takes fewer. */
  readonly rows?: number | undefined;
  /** Called for Ctrl-C. */
  onInterrupt(): void;
}

/** The index of the line that Enter took; the first is marked at first. Undefined at Ctrl-D, or when the signal aborts. */
export async function pickLine(
  labels: readonly string[],
  { input, output, paint, columns, rows = Infinity, onInterrupt }: PickSurroundings,
  signal: AbortSignal,
): Promise<number | undefined> {
  const picked = newDeferred<number | undefined>();
  let marked = 0;
  let first = 0;
  // What has left the screen cannot be drawn anew.
  const shown = Math.max(1, Math.min(labels.length, rows - ROWS_AROUND));
  const lines = () => {
    first = Math.min(Math.max(first, marked - shown + 1), marked);
    return labels.slice(first, first + shown).map((label, index) => {
      const at = first + index;
      const line = `${at === marked ? '❯' : ' '} ${at + 1}  ${label}`.slice(0, columns - 1);
      return `\x1b[2K${at === marked ? paint('cyan', line) : line}\n`;
    });
  };
  const draw = () => output.write(`\x1b[${shown}A${lines().join('')}`);
  const onData = (data: Buffer | string) => {
    for (const [key] of String(data).matchAll(KEYS)) {
      if (key === '\x03') onInterrupt();
      else if (key === '\x04') picked.resolve(undefined);
      else if (key === '\r' || key === '\n') picked.resolve(marked);
      else if (key.endsWith('A')) marked = (marked + labels.length - 1) % labels.length;
      else if (key.endsWith('B')) marked = (marked + 1) % labels.length;
      else if (Number(key) >= 1 && Number(key) <= labels.length) marked = Number(key) - 1;
    }
    draw();
  };
  const withdraw = () => picked.resolve(undefined);
  signal.addEventListener('abort', withdraw);
  input.setRawMode?.(true);
  input.on('data', onData).on('end', withdraw).resume();
  output.write(lines().join(''));
  try {
    return signal.aborted ? undefined : await picked.promise;
  } finally {
    signal.removeEventListener('abort', withdraw);
    input.off('data', onData).off('end', withdraw).pause();
    input.setRawMode?.(false);
  }
}

/** The line of the cursor, and one of the question above. */
const ROWS_AROUND = 2;

/** The keys that count: Ctrl-C, Ctrl-D, Enter, the arrows up and down, and digits. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send them.
const KEYS = /\x03|\x04|\r|\n|\x1b[[O][AB]|\d/g;
