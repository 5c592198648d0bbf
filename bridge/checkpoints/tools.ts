/** Previews and makes undos. The owner's rules for a call that changes files hold for each file of an undo. */

import { ToolFailure } from '../../machine/failure.ts';
import { type BridgeTool, bindTool, doing, type ToolContext } from '../../packages/host/index.ts';
import { previewUndo, undoChanges } from '../../shared/tools/undo.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import type { UndoFields } from '../../shared/wire/undo.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Selection } from './selection.ts';
import { applyUndo, previewUndo as preview, type Undo, undoChanged } from './undo.ts';
import { previewText, reportOf, sentenceOf } from './words.ts';

/** They preview an undo, and make it. */
export function undoTools(checkpoints: Checkpoints): readonly BridgeTool[] {
  return [
    doing(previewUndo, async (args, context) => {
      const undo = await planned(checkpoints, args, context);
      return toResult(undo, await previewText(undo, context.signal));
    }),
    bindTool(undoChanges, {
      propose: async (args, context) => {
        const undo = await planned(checkpoints, args, context);
        const { scope, id, digest: seen } = args;
        const { digest } = undo;
        const isBegun = undo.done.length > 0;
        if (seen !== undefined && seen !== digest && !isBegun) throw undoChanged();
        const changes = await previewText(undo, context.signal);
        return {
          proposal: {
            kind: 'call',
            tool: undoChanges.name,
            arguments: { scope, ...(id !== undefined && { id }), digest, changes },
          },
          isAlone: true,
          apply: async (running) => {
            const place = { checkpoints, workspace: running.workspace, signal: running.signal };
            const done = await applyUndo(place, selectionOf(args, running), digest);
            return toResult(done, sentenceOf(done, scope === 'redo'));
          },
        };
      },
    }),
  ];
}

/** Throws a {@link ToolFailure} (`NOTHING_TO_UNDO`). */
async function planned(
  checkpoints: Checkpoints,
  args: UndoFields,
  context: ToolContext,
): Promise<Undo> {
  const { workspace, signal } = context;
  const undo = await preview({ checkpoints, workspace, signal }, selectionOf(args, context));
  if (undo.plans.length > 0 || undo.done.length > 0) return undo;
  throw new ToolFailure(
    'NOTHING_TO_UNDO',
    args.scope === 'redo' ? 'There is no undo to take back.' : 'There is no change to take back.',
  );
}

function selectionOf(
  { scope, id }: UndoFields,
  { conversationId, callId, grantee }: Pick<ToolContext, 'conversationId' | 'callId' | 'grantee'>,
): Selection {
  const caller = { conversation: conversationId, call: callId, isConfined: grantee !== undefined };
  return { scope, ...(id !== undefined && { id }), ...caller };
}

function toResult(undo: Undo, data: string): ToolResult {
  return { status: 'success', data, metadata: { undo: reportOf(undo) } };
}
