/** An edit in two steps: it is worked out first, and made only if the file is still the same. */

import { compute } from '../../machine/compute/compute.ts';
import type { Edit, KnownSource } from '../../packages/edits/index.ts';
import { EDIT_TASKS } from '../../packages/edits/tasks.ts';
import {
  type ArgumentsOf,
  type BridgeTool,
  bindTool,
  type EditShape,
  type ToolContext,
  toProposed,
  toWrite,
  unshaped,
  whyAsked,
} from '../../packages/host/index.ts';
import {
  assertReplaceable,
  type FileContent,
  type ResolvedPath,
  readContent,
  readContentIfAny,
  replaceFileAt,
} from '../../packages/workspace/index.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { ToolDefinition } from '../../shared/tools/definition.ts';

/** A tool that edits one file. `toEdit` turns its arguments into an edit, which the shapes then get in their order. */
export function editing<Definition extends ToolDefinition>(
  definition: Definition,
  toEdit: (args: ArgumentsOf<Definition>) => Edit,
  shapes: readonly EditShape[] = [],
): BridgeTool {
  const { name: tool } = definition;
  return bindTool(definition, {
    propose: async (args, context) => {
      const edit = toEdit(args);
      const place = toWrite(context.places[0]);
      const read = edit.kind === 'replace' || edit.kind === 'cell' ? readContent : readContentIfAny;
      const before = await read(place, context.signal);
      const standing = standingOf(place, before, edit, context);
      const name = nameInLine(place.name);
      const request = { name, bytes: before?.bytes ?? null, standing, edit };
      const plain = await compute(EDIT_TASKS.proposeEdit, request, context.signal);
      if (plain.bytes !== null) await assertReplaceable(place);
      let shaped = unshaped(plain);
      for (const shape of shapes) shaped = await shape(shaped, { place, before }, context);
      const carryOut = (bytes: Uint8Array | null, running: ToolContext) =>
        makeEdit(place, before, bytes, running);
      const proposed = toProposed({ tool, place, before, context, carryOut }, shaped);
      const isOverwritten =
        edit.kind === 'write' && before !== null && shaped.edited.bytes !== null;
      return isOverwritten ? { ...proposed, asks: whyAsked(before.bytes, context) } : proposed;
    },
  });
}

/**
 * A person who sees the change may allow it even though the file has changed since the model read it: where the old
 * text still matches, the change is right. That does not hold for an edit that replaces what it does not quote.
 */
function standingOf(
  place: ResolvedPath,
  before: FileContent | null,
  edit: Edit,
  { ledger, conversationId, isReviewed }: ToolContext,
): KnownSource {
  const standing = ledger.standingOf(conversationId, place.path, before?.hash ?? null);
  const isShown = isReviewed && isQuoting(edit) && standing.state === 'changed';
  return isShown ? { state: 'unread' } : standing;
}

function isQuoting(edit: Edit): boolean {
  return edit.kind === 'cell' ? edit.search !== undefined : edit.kind !== 'write';
}

async function makeEdit(
  place: ResolvedPath<'write'>,
  before: FileContent | null,
  bytes: Uint8Array | null,
  { ledger, keep, conversationId, signal }: ToolContext,
): Promise<void> {
  const options = { expected: before?.hash ?? null, keep, signal };
  const now = bytes === null ? before : await replaceFileAt(place, bytes, options);
  if (now !== null) ledger.remember(conversationId, place.path, now);
}
