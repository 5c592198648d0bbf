/** What a guest did with a change that it was answered about itself: only the file shows it. */
import { isUtf8 } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolFailure } from '../../../machine/failure.ts';
import { nameInLine } from '../../../shared/text/plain-sight.ts';
import type { Metadata } from '../../../shared/wire/documents.ts';
import { failure, type ToolResult } from '../../../shared/wire/tunnel.ts';
import { type FileContent, type ResolvedPath, readContentIfAny } from '../../workspace/index.ts';

/** The change as the bridge had it worked out for a person. */
export interface ProposedChange {
  readonly place: ResolvedPath;
  /** SHA-256 of the file then; null where there was none. */
  readonly beforeHash: string | null;
  readonly metadata: Metadata;
}

export interface AwaitedWrite {
  readonly program: string;
  /** The whole file as the guest wanted it. */
  readonly content: string;
  /** Rejects where the file cannot be found or may not be read. */
  readonly seen: () => Promise<ProposedChange>;
  readonly limits: { readonly writeMs: number; readonly lookMs: number };
}

/** Resolves once the file is as proposed, and else when the time is over or the signal aborts. Never rejects. */
export async function awaitWrite(awaited: AwaitedWrite, signal: AbortSignal): Promise<ToolResult> {
  const { program, content, limits } = awaited;
  const until = performance.now() + limits.writeMs;
  try {
    const { place, beforeHash, metadata } = await awaited.seen();
    const file = nameInLine(place.name);
    for (;;) {
      const found = await readContentIfAny(place, new AbortController().signal);
      if (found && isText(found, content)) {
        const data = `${program} was answered itself, and has written ${file} as it proposed.`;
        return { status: 'success', data, metadata };
      }
      if (performance.now() >= until || signal.aborted) {
        const isSame = (found?.hash ?? null) === beforeHash;
        return isSame ? unwritten(program, file) : other(program, file);
      }
      await sleep(limits.lookMs, undefined, { signal }).catch(() => {});
    }
  } catch (error) {
    // The outcome may be asked for later or never: it must not reject.
    const why = error instanceof ToolFailure ? error.message : 'it cannot be read.';
    const data = `${program} was answered itself. Whether it has written the file is unknown: ${why}`;
    return failure('UNKNOWN_OUTCOME', data);
  }
}

/** A program may write another kind of line ends, or a byte order mark. */
function isText({ bytes }: FileContent, content: string): boolean {
  return isUtf8(bytes) && plain(Buffer.from(bytes).toString()) === plain(content);
}

function plain(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}

function unwritten(program: string, file: string): ToolResult {
  const data = `${program} was answered itself, and has not written ${file}.`;
  return failure('CANCELLED', data);
}

function other(program: string, file: string): ToolResult {
  const data = `${program} was answered itself. ${file} has changed since, but not to what was proposed.`;
  return failure('UNKNOWN_OUTCOME', data);
}
