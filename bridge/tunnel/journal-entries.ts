/** The lines of the journal: their schema, and what they add up to. */
import { z } from 'zod';
import { DrawbridgeError } from '../../shared/errors.ts';
import { CallId } from '../../shared/ids.ts';
import { ToolResult } from '../../shared/tunnel.ts';

const Started = z.object({
  type: z.literal('started'),
  callId: CallId,
  bootId: z.string(),
  /** For people who read the file. */
  tool: z.string(),
  repeatable: z.boolean(),
});

const Finished = z.object({ type: z.literal('finished'), callId: CallId, result: ToolResult });

const Forgotten = z.object({ type: z.literal('forgotten'), callId: CallId });

const Entry = z.discriminatedUnion('type', [Started, Finished, Forgotten]);
export type Entry = z.infer<typeof Entry>;

/** What is held of one call: at least one of the two. */
export interface Held {
  readonly started?: z.infer<typeof Started>;
  readonly finished?: z.infer<typeof Finished>;
}

/**
 * The calls that a journal's text holds. What comes after its last line break was being written when the process died,
 * and never counted. Where a loss of power kept a part of the file from the disk, some systems read zeros: only lines that
 * nothing depends on can be lost in them, for what comes before a durable line is on disk with it. `path` names the file
 * when a line is wrong, which throws.
 */
export function replay(text: string, path: string): Map<string, Held> {
  const calls = new Map<string, Held>();
  const lines = text.split('\n').slice(0, -1);
  for (const [index, line] of lines.entries()) {
    if (line.includes('\0')) continue;
    const entry = parseLine(line, `line ${index + 1} of ${path}`);
    if (entry.type === 'started') calls.set(entry.callId, { started: entry });
    else if (entry.type === 'forgotten') calls.delete(entry.callId);
    else calls.set(entry.callId, { ...calls.get(entry.callId), finished: entry });
  }
  return calls;
}

function parseLine(line: string, place: string): Entry {
  try {
    return Entry.parse(JSON.parse(line));
  } catch (cause) {
    throw new DrawbridgeError(
      'NOT_CONFIGURED',
      `The journal is damaged: ${place} is no entry of this version. Without it, calls that were running may run a second time: move it away only when that does no harm.`,
      { cause },
    );
  }
}

/** The inverse of {@link replay}, for one call. */
export function entriesOf({ started, finished }: Held): Entry[] {
  return [started, finished].filter((entry) => entry !== undefined);
}

export function toLine(entry: Entry): string {
  return `${JSON.stringify(entry)}\n`;
}
