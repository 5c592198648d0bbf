/** The lines of the journal: their schema, and the state that they add up to. */
import * as z from 'zod';
import { DrawbridgeError } from '../../shared/errors.ts';
import { CallId } from '../../shared/ids.ts';
import { Nonce, Scope } from '../../shared/wire/approvals.ts';
import { ToolResult } from '../../shared/wire/tunnel.ts';

const FileHash = z.string().nullable();

/** Written before a person is asked. Only an answer with this nonce counts. */
const Asked = z.object({
  type: z.literal('asked'),
  callId: CallId,
  nonce: Nonce,
  proposalDigest: z.string(),
  /**
   * Hash of the file in question. Absent where the question is about no file, null where the file does not exist yet.
   */
  beforeHash: FileHash.optional(),
});

/** Written before anything follows from the answer, and never twice for one nonce. */
const Answered = z.object({
  type: z.literal('answered'),
  callId: CallId,
  nonce: Nonce,
  decision: z.enum(['once', 'reject']),
  by: z.string(),
  message: z.string().optional(),
  scope: Scope.optional(),
  pattern: z.string().optional(),
  content: z.string().optional(),
});

const Started = z.object({
  type: z.literal('started'),
  callId: CallId,
  bootId: z.string(),
  /** For people who read the file. */
  tool: z.string(),
  repeatable: z.boolean(),
  /**
   * For a change to one file. After a crash the file's bytes show whether the change was made; then `result` is the
   * result.
   */
  change: z.object({ beforeHash: FileHash, afterHash: FileHash, result: ToolResult }).optional(),
});

const Finished = z.object({ type: z.literal('finished'), callId: CallId, result: ToolResult });

const Forgotten = z.object({ type: z.literal('forgotten'), callId: CallId });

const JournalEntry = z.discriminatedUnion('type', [Asked, Answered, Started, Finished, Forgotten]);
export type JournalEntry = z.infer<typeof JournalEntry>;

/** The entries of one call: at least one of the four. A question here is newer than the start beside it. */
export interface HeldCall {
  readonly started?: z.infer<typeof Started>;
  readonly asked?: z.infer<typeof Asked>;
  readonly answered?: z.infer<typeof Answered>;
  readonly finished?: z.infer<typeof Finished>;
  /** Bytes of the call's lines in the file. Writing the call anew takes at most as many. */
  readonly bytes: number;
}

/** The content of a journal's file. */
export interface Replayed {
  readonly calls: Map<string, HeldCall>;
  /** Whether lines can be appended to the file as it is. */
  readonly isWhole: boolean;
}

/**
 * The calls in a journal's file. Text after the last line break was being written when the process died, and does not
 * count. After a loss of power, some systems return zeros for a part of the file that never reached the disk. Only
 * lines that nothing depends on can be lost that way: everything before a durable line is on disk with it. Throws for a
 * wrong line; `path` names the file in the error.
 */
export function replay(file: Buffer, path: string): Replayed {
  const calls = new Map<string, HeldCall>();
  let [start, number, isWhole] = [0, 0, true];
  for (let end = file.indexOf('\n'); end >= 0; end = file.indexOf('\n', start)) {
    const line = file.toString('utf8', start, end);
    number++;
    if (line.includes('\0')) isWhole = false;
    else take(calls, parseLine(line, `line ${number} of ${path}`), end + 1 - start);
    start = end + 1;
  }
  return { calls, isWhole: isWhole && start === file.length };
}

/** Adds one more entry, whose line has `lineBytes` bytes. */
export function take(calls: Map<string, HeldCall>, entry: JournalEntry, lineBytes: number): void {
  const { callId } = entry;
  const held = calls.get(callId);
  const bytes = (held?.bytes ?? 0) + lineBytes;
  switch (entry.type) {
    case 'asked': {
      const { answered: _, ...rest } = held ?? {};
      calls.set(callId, { ...rest, asked: entry, bytes });
      return;
    }
    case 'answered':
      if (held?.asked?.nonce === entry.nonce)
        calls.set(callId, { ...held, answered: entry, bytes });
      return;
    case 'started':
      calls.set(callId, { started: entry, bytes });
      return;
    case 'finished':
      calls.set(callId, { ...held, finished: entry, bytes });
      return;
    case 'forgotten':
      calls.delete(callId);
      return;
    default:
      entry satisfies never;
  }
}

function parseLine(line: string, place: string): JournalEntry {
  try {
    return JournalEntry.parse(JSON.parse(line));
  } catch (cause) {
    throw new DrawbridgeError(
      'NOT_CONFIGURED',
      `The journal is damaged: ${place} is no entry of this version. Without it, calls that were running may run a second time: move it away only when that does no harm.`,
      { cause },
    );
  }
}

/** The inverse of {@link replay}, for one call. */
export function entriesOf({ started, asked, answered, finished }: HeldCall): JournalEntry[] {
  return [started, asked, answered, finished].filter((entry) => entry !== undefined);
}

export function toLine(entry: JournalEntry): string {
  return `${JSON.stringify(entry)}\n`;
}
