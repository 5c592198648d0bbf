/** An edit in two steps: it is worked out first, and made only if the file is still the same. */
import type { FileEditMetadata } from '../../shared/documents.ts';
import { languageOf } from '../../shared/languages.ts';
import { nameInLine } from '../../shared/plain-sight.ts';
import type { ToolDefinition } from '../../shared/tools/definition.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { compute } from '../compute/compute.ts';
import { decode } from '../edits/encoding.ts';
import type { Edit, EditProposal } from '../edits/propose.ts';
import type { Standing } from '../edits/source.ts';
import { assertReplaceable, replaceImage } from '../workspace/changes.ts';
import { type FileImage, hashOf, readImage, readImageIfAny } from '../workspace/files.ts';
import type { Place } from '../workspace/workspace.ts';
import {
  type ArgumentsOf,
  type EditedFile,
  type Proposed,
  type ToolContext,
  type ToolWork,
  toWrite,
} from './executor.ts';

/** The work of a tool that edits one file. `toEdit` turns its arguments into an edit. */
export function editing<Definition extends ToolDefinition>(
  { name: tool }: Definition,
  toEdit: (args: ArgumentsOf<Definition>) => Edit,
): ToolWork<ArgumentsOf<Definition>> {
  return {
    propose: async (args, context) => {
      const edit = toEdit(args);
      const place = toWrite(context.places[0]);
      const read = edit.kind === 'replace' ? readImage : readImageIfAny;
      const before = await read(place, context.signal);
      const standing = standingOf(place, before, edit, context);
      const name = nameInLine(place.name);
      const request = { name, bytes: before?.bytes ?? null, standing, edit };
      const edited = await compute('proposeEdit', request, context.signal);
      if (edited.bytes !== null) await assertReplaceable(place);
      return toProposed({ tool, place, before, context }, edited);
    },
  };
}

/** The call of an edit, and its file as it is. */
interface EditCall {
  readonly tool: string;
  readonly place: Place<'write'>;
  readonly before: FileImage | null;
  readonly context: ToolContext;
}

/**
 * A person who sees the change may allow it even though the file has changed since the model read it: where the old
 * text still matches, the change is right. That does not hold for `write`, which replaces the whole file.
 */
function standingOf(
  place: Place,
  before: FileImage | null,
  edit: Edit,
  { ledger, conversationId, isReviewed }: ToolContext,
): Standing {
  const standing = ledger.standingOf(conversationId, place.path, before?.hash ?? null);
  const isShown = isReviewed && edit.kind !== 'write' && standing.state === 'changed';
  return isShown ? { state: 'unread' } : standing;
}

function toProposed(call: EditCall, edited: EditProposal): Proposed {
  const { tool, place, before, context } = call;
  const { bytes, data, diff, hunks, shown } = edited;
  const operation = before === null ? 'create' : 'edit';
  const language = languageOf(place.name);
  const metadata: FileEditMetadata = { filePath: place.name, operation, language, diff };
  const withHunks = { ...metadata, ...(hunks && { hunks }) };
  const result: ToolResult = { status: 'success', data, metadata: withHunks };
  const beforeHash = before?.hash ?? null;
  const change = { beforeHash, afterHash: bytes === null ? beforeHash : hashOf(bytes), result };
  const path = context.workspace.nameOf(place.path);
  const { afterHash } = change;
  return {
    proposal: { kind: 'edit', tool, path, operation, ...shown, beforeHash, afterHash },
    change,
    edited: context.isReviewed ? toEditedFile(call, bytes ?? before?.bytes) : undefined,
    apply: async ({ ledger, conversationId, signal }) => {
      const options = { expected: beforeHash, signal };
      const now = bytes === null ? before : await replaceImage(place, bytes, options);
      if (now !== null) ledger.remember(conversationId, place.path, now);
      return result;
    },
  };
}

/** Undefined where the new file is no text: then nobody can change it further. */
function toEditedFile(
  call: EditCall,
  proposed: Uint8Array = new Uint8Array(),
): EditedFile | undefined {
  const { place, before, context } = call;
  const decoded = decode(proposed);
  if (decoded.kind !== 'utf8') return undefined;
  const name = nameInLine(place.name);
  return {
    path: place.path,
    newText: decoded.text,
    amend: async (content) => {
      const request = { name, bytes: before?.bytes ?? null, proposed, content };
      const edited = await compute('amendEdit', request, context.signal);
      if (edited.bytes !== null) await assertReplaceable(place);
      return toProposed(call, edited);
    },
  };
}
