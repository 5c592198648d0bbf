/** An edit in two steps: it is worked out first, and made only if the file is still the same. */
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { ToolDefinition } from '../../shared/tools/definition.ts';
import { compute } from '../compute/compute.ts';
import type { EditCheck, EditChecks } from '../diagnostics/edit-checks.ts';
import { decode } from '../edits/encoding.ts';
import type { Edit, EditProposal } from '../edits/propose.ts';
import type { KnownSource } from '../edits/source.ts';
import type { Formatters, Formatting } from '../formatting/formatters.ts';
import { assertReplaceable, replaceFileAt } from '../workspace/changes.ts';
import { type FileContent, readContent, readContentIfAny } from '../workspace/files.ts';
import type { Place } from '../workspace/workspace.ts';
import { toProposed } from './edit-proposal.ts';
import {
  type ArgumentsOf,
  type BridgeTool,
  bindTool,
  type ToolContext,
  toWrite,
  whyAsked,
} from './executor.ts';

/** What happens to an edit before it is proposed. It is formatted first: what is checked is what would be written. */
export interface EditAids {
  readonly formatters?: Formatters | undefined;
  /** May refuse the edit. */
  readonly checks?: EditChecks | undefined;
}

/** A tool that edits one file. `toEdit` turns its arguments into an edit. */
export function editing<Definition extends ToolDefinition>(
  definition: Definition,
  toEdit: (args: ArgumentsOf<Definition>) => Edit,
  { formatters, checks }: EditAids = {},
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
      const plain = await compute('proposeEdit', request, context.signal);
      if (plain.bytes !== null) await assertReplaceable(place);
      const { edited, formatting } = await formatEdit(formatters, place, before, plain, context);
      const check = checks && (await checkEdit(checks, place, before, edited.bytes, context));
      const carryOut = (bytes: Uint8Array | null, running: ToolContext) =>
        makeEdit(place, before, bytes, running);
      const proposed = toProposed({ tool, place, before, context, carryOut }, edited, {
        check,
        formatting,
      });
      const isOverwritten = edit.kind === 'write' && before !== null && edited.bytes !== null;
      return isOverwritten ? { ...proposed, asks: whyAsked(before.bytes, context) } : proposed;
    },
  });
}

/** Only text in UTF-8 is formatted. */
async function formatEdit(
  formatters: Formatters | undefined,
  place: Place<'write'>,
  before: FileContent | null,
  edited: EditProposal,
  { callId, signal }: ToolContext,
): Promise<{ readonly edited: EditProposal; readonly formatting: Formatting }> {
  const { bytes: proposed } = edited;
  const decoded = proposed && decode(proposed);
  if (!formatters || !proposed || decoded?.kind !== 'utf8') {
    return { edited, formatting: { state: 'none' } };
  }
  const { text } = decoded;
  const formatting = await formatters.format({ callId, path: place.path, text }, signal);
  if (formatting.state !== 'formatted' || formatting.text === text) return { edited, formatting };
  const amendment = {
    name: nameInLine(place.name),
    bytes: before?.bytes ?? null,
    proposed,
    content: formatting.text,
    formatter: { name: formatting.by, data: edited.data },
  };
  return { edited: await compute('amendEdit', amendment, signal), formatting };
}

/** Undefined where nothing is written, and where a side is no text in UTF-8. Throws as {@link EditChecks.check} does. */
async function checkEdit(
  checks: EditChecks,
  place: Place<'write'>,
  before: FileContent | null,
  bytes: Uint8Array | null,
  { conversationId, signal, workspace }: ToolContext,
): Promise<EditCheck | undefined> {
  if (bytes === null) return undefined;
  const [old, fresh] = [before && decode(before.bytes), decode(bytes)];
  if (fresh.kind !== 'utf8' || (old !== null && old.kind !== 'utf8')) return undefined;
  const texts = { before: old?.text ?? null, after: fresh.text };
  const edit = { conversationId, path: place.path, name: nameInLine(place.name), ...texts };
  return await checks.check({ ...edit, workspace }, signal);
}

/**
 * A person who sees the change may allow it even though the file has changed since the model read it: where the old
 * text still matches, the change is right. That does not hold for an edit that replaces what it does not quote.
 */
function standingOf(
  place: Place,
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
  place: Place<'write'>,
  before: FileContent | null,
  bytes: Uint8Array | null,
  { ledger, keep, conversationId, signal }: ToolContext,
): Promise<void> {
  const options = { expected: before?.hash ?? null, keep, signal };
  const now = bytes === null ? before : await replaceFileAt(place, bytes, options);
  if (now !== null) ledger.remember(conversationId, place.path, now);
}
