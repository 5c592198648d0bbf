/** The processes of a bridge as people see them: commands in the background, and ended ones that still have a handle. */
import * as z from 'zod';
import { PROCESS_REPORT_LIMITS } from '../limits.ts';

const { maxProcesses, maxTextChars } = PROCESS_REPORT_LIMITS;
const Text = z.string().max(maxTextChars);

export const ProcessId = Text.min(1);

export const ProcessInfo = z.object({
  id: ProcessId,
  /** The conversation whose command it is. */
  conversationId: Text,
  /** Perhaps cut. */
  command: Text,
  /** Relative to the workspace. */
  folder: Text,
  running: z.boolean(),
  started: z.iso.datetime(),
  /** How it ended; absent while it runs. */
  end: Text.optional(),
});
export type ProcessInfo = z.infer<typeof ProcessInfo>;

/** `GET bridges/{id}/processes`: the running ones first, then the newest. */
export const ProcessList = z.object({ items: z.array(ProcessInfo).max(maxProcesses) });
export type ProcessList = z.infer<typeof ProcessList>;
