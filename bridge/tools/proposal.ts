/** An edit in two steps: worked out, then made if the file is still what it was worked out from. */
import type { FileEditMetadata } from '../../shared/documents.ts';
import { languageOf } from '../../shared/languages.ts';
import { nameInLine } from '../../shared/plain-sight.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { compute } from '../compute/compute.ts';
import type { Edit, EditRequest, Proposal } from '../edits/propose.ts';
import { replaceImage } from '../workspace/changes.ts';
import { type FileImage, readImage, readImageIfAny } from '../workspace/files.ts';
import type { Place } from '../workspace/workspace.ts';
import { executor, type ToolContext, type ToolExecutor } from './executor.ts';

/** What a call asks of a file. */
export interface EditCall {
  readonly path: string;
  readonly edit: Edit;
}

/** The executor that works an edit out and makes it at once. */
export function editExecutor<Args>(toCall: (args: Args) => EditCall): ToolExecutor<Args> {
  return executor(async (args, context) => {
    const { path, edit } = toCall(args);
    const place = await context.workspace.resolve(path, 'write');
    const read = edit.kind === 'replace' ? readImage : readImageIfAny;
    const before = await read(place, context.signal);
    const request = requestOf(place, before, edit, context);
    const proposal = await compute('proposeEdit', request, context.signal);
    return await applyProposal(place, before, proposal, context);
  });
}

function requestOf(
  place: Place<'write'>,
  before: FileImage | null,
  edit: Edit,
  { ledger, conversationId }: ToolContext,
): EditRequest {
  const standing = ledger.standingOf(conversationId, place.path, before?.hash ?? null);
  return { name: nameInLine(place.name), bytes: before?.bytes ?? null, standing, edit };
}

/** Writes what was proposed, if the file still is what the proposal was made from; otherwise a `STALE` ToolFailure. */
async function applyProposal(
  place: Place<'write'>,
  before: FileImage | null,
  { bytes, data, diff, hunks }: Proposal,
  { ledger, conversationId, signal }: ToolContext,
): Promise<ToolResult> {
  const expected = before?.hash ?? null;
  const now = bytes === null ? before : await replaceImage(place, bytes, { expected, signal });
  if (now !== null) ledger.remember(conversationId, place.path, now);
  const metadata: FileEditMetadata = {
    filePath: place.name,
    operation: before === null ? 'create' : 'edit',
    language: languageOf(place.name),
    diff,
  };
  return { status: 'success', data, metadata: { ...metadata, ...(hunks && { hunks }) } };
}
