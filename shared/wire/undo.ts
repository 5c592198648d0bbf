/** An undo: what a person asks for, and what becomes of the files (tools/undo.ts). */
import * as z from 'zod';
import { REQUEST_LIMITS } from '../limits.ts';

/** What is taken back: the `last` response, `since` a response on, or the undo itself (`redo`). */
const UNDO_SCOPES = ['last', 'call', 'response', 'since', 'redo'] as const;

/** What a person asks for. */
export const UndoFields = z.object({
  scope: z.enum(UNDO_SCOPES),
  /** The id of the call or of the response. */
  id: z.string().max(REQUEST_LIMITS.maxNameChars).optional(),
  /** The digest of a preview: where the undo would now do anything else, it changes nothing. */
  digest: z.string().max(REQUEST_LIMITS.maxNameChars).optional(),
});
export type UndoFields = z.infer<typeof UndoFields>;

/** What becomes of the files. */
export const UndoReport = z.object({
  /** Of what the undo does, to every byte. */
  digest: z.string(),
  files: z.array(
    z.object({
      path: z.string(),
      /** `merge`: what others changed since stays. `keep`: the file stays as it is. */
      action: z.enum(['restore', 'create', 'delete', 'merge', 'keep']),
      /** Why the file is kept, or what a person must know of its content. */
      reason: z.string().optional(),
    }),
  ),
});
export type UndoReport = z.infer<typeof UndoReport>;
