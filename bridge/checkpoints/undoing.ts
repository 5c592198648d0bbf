/** Carries out the calls of one room so that they can be undone. */
import type { Undoing } from '../admission/undoing.ts';
import type { RoomSource } from '../feature.ts';
import type { Checkpoints } from './checkpoints.ts';
import { CUT, lostNote } from './words.ts';

/** For one room. In a worktree no deletion is asked about, so nothing of it must be restorable. */
export function undoingIn(
  checkpoints: Checkpoints,
  { kind, workspace }: Pick<RoomSource, 'kind' | 'workspace'>,
): Undoing {
  const { root } = workspace;
  return {
    watch: () => checkpoints.watch(workspace),
    canRestore: (path) => kind === 'workspace' && checkpoints.canRestore(root, path),
    keepingOf: ({ callId, conversationId }) => ({
      keep: checkpoints.keeper({ root, conversationId, callId }),
      canKeep: (bytes) => checkpoints.canKeep(bytes),
    }),
    around: async ({ callId, conversationId, isCommand, isAlone }, work) => {
      if (isAlone) return await checkpoints.alone(root, work);
      if (!isCommand) return await checkpoints.during(root, work);
      const command = () => checkpoints.command({ root, callId, conversationId }, work);
      const { value, lost, isCut } = await checkpoints.during(root, command);
      const notes = [...(lost.length > 0 ? [lostNote(lost)] : []), ...(isCut ? [CUT] : [])];
      return notes.length === 0 ? value : { ...value, data: [value.data, ...notes].join('\n') };
    },
  };
}
