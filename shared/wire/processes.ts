/** The processes of a bridge as people see them: commands in the background, and ended ones that still have a handle. */
import * as z from 'zod';
import { PROCESS_REPORT_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { Nonce, Signature } from './approvals.ts';

const { maxProcesses, maxTextChars } = PROCESS_REPORT_LIMITS;
const Text = z.string().max(maxTextChars);

export const ProcessId = Text.min(1);

const Port = z.int().min(1).max(65_535);

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
  /** How it ended, in words; absent while it runs. */
  end: Text.optional(),
  /** Present only if it ended by itself. */
  exitCode: z.int().optional(),
  /** The newest line of its output, perhaps cut; absent once it has stopped, and before it has printed one. */
  lastLine: Text.optional(),
  /** The ports of its network that a person has opened, each with its address on the bridge's machine. */
  ports: z.array(z.object({ port: Port, address: Text })).optional(),
});
named.add(ProcessInfo, { id: 'ProcessInfo' });
export type ProcessInfo = z.infer<typeof ProcessInfo>;

/** `GET bridges/{id}/processes`: the running ones first, then the newest. */
export const ProcessList = z.object({ items: z.array(ProcessInfo).max(maxProcesses) });
named.add(ProcessList, { id: 'ProcessList' });
export type ProcessList = z.infer<typeof ProcessList>;

/** `POST bridges/{id}/processes/{processId}/ports`. A signed `portText` as grant opens the port; none closes it. */
export const PortRequest = z.strictObject({
  port: Port,
  grant: z
    .strictObject({
      nonce: Nonce,
      signature: Signature,
    })
    .optional(),
});
named.add(PortRequest, { id: 'PortRequest' });
export type PortRequest = z.infer<typeof PortRequest>;

/** What a person asks for before the bridge lists its processes. */
export const ProcessAsk = z.object({
  stop: z.optional(ProcessId),
  /** Opens or closes a port of one. */
  port: z.object({ processId: ProcessId, ...PortRequest.shape }).optional(),
});
export type ProcessAsk = z.infer<typeof ProcessAsk>;

/** The processes after that. `refused` says why a port was not opened. */
export const ProcessReport = ProcessList.extend({ refused: Text.optional() });
export type ProcessReport = z.infer<typeof ProcessReport>;
