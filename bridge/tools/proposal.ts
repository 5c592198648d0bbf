/** An edit in two steps: worked out, then made if the file is still what it was worked out from. */
import type { FileEditMetadata } from '../../shared/documents.ts';
import { languageOf } from '../../shared/languages.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { diffTexts } from '../edits/diff.ts';
import { encode } from '../edits/encoding.ts';
import { isCopiedWithNumbers } from '../edits/line-numbers.ts';
import { countLines } from '../edits/lines.ts';
import { findLeftMarker } from '../edits/markers.ts';
import { replaceImage } from '../sandbox/changes.ts';
import { ToolFailure } from '../sandbox/failure.ts';
import type { Place } from '../sandbox/workspace.ts';
import type { EditableFile } from './editable.ts';
import { executor, type ToolContext, type ToolExecutor } from './executor.ts';

/** What a file is to become. */
export interface Proposal {
  readonly place: Place<'write'>;
  /** Null where the file does not exist yet. */
  readonly before: EditableFile | null;
  /** The whole new text, without byte order mark. */
  readonly after: string;
  /** What the model should know of how the edit was understood; empty when there is nothing. */
  readonly note: string;
}

/** Works an edit out without changing anything. Throws a ToolFailure when it cannot be made. */
export type Propose<Args> = (args: Args, context: ToolContext) => Promise<Proposal>;

/** The executor that makes the edit at once. */
export function editExecutor<Args>(propose: Propose<Args>): ToolExecutor<Args> {
  return executor(async (args, context) => applyProposal(await propose(args, context), context));
}

/**
 * Writes what was proposed, if the file still is what the proposal was made from; otherwise a `STALE` ToolFailure. A
 * proposal that changes nothing succeeds without writing.
 */
async function applyProposal(
  { place, before, after, note }: Proposal,
  { ledger, conversationId, signal }: ToolContext,
): Promise<ToolResult> {
  let hash = before?.hash ?? '';
  if (before?.text !== after) {
    const bytes = encode(after, before?.bom ?? false);
    const written = await replaceImage(place, bytes, { expected: before?.hash ?? null, signal });
    hash = written.hash;
  }
  ledger.remember(conversationId, place.path, { hash, text: after });
  const changes = before === null ? null : diffTexts(before.text, after);
  const metadata: FileEditMetadata = {
    filePath: place.name,
    operation: before === null ? 'create' : 'edit',
    language: languageOf(place.name),
    diff: changes?.diff ?? null,
  };
  return {
    status: 'success',
    data: `${describe(place.name, before, after)}${note === '' ? '' : ` ${note}`}`,
    metadata: { ...metadata, ...(changes?.hunks && { hunks: changes.hunks }) },
  };
}

/** Refuses text that would be written with a hole in it, or with the line numbers that only the model sees. */
export function assertLiteral(text: string, old: string): void {
  const marker = findLeftMarker(text, old);
  if (marker !== null) {
    throw new ToolFailure(
      'MARKER_LEFT_IN_TEXT',
      `The new text leaves code out (\`${marker.trim()}\`) and would be written like that: give the text in full, or use ` +
        'edit_file on an existing file.',
    );
  }
  if (isCopiedWithNumbers(text) && !isCopiedWithNumbers(old)) {
    throw new ToolFailure(
      'LINE_NUMBERS_IN_TEXT',
      'Every line of the new text carries a line number as read_file shows it (`12|`): give the text without them.',
    );
  }
}

function describe(name: string, before: EditableFile | null, after: string): string {
  if (before === null) return `Created ${name} (${formatLines(countLines(after))}).`;
  if (before.text === after) return `${name} already has exactly this content.`;
  return `Edited ${name} (${formatLines(countLines(before.text))} before, ${countLines(after)} now).`;
}

function formatLines(count: number): string {
  return count === 1 ? '1 line' : `${count} lines`;
}
