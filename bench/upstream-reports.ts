/** The messages of a scripted upstream to the process that started it. */
import * as z from 'zod';

/** Times are from the clock that all processes of a run share. */
export const UpstreamReport = z.discriminatedUnion('type', [
  z.object({ type: z.literal('listening'), port: z.int() }),
  /** A request came that gets no answer, not even headers. */
  z.object({ type: z.literal('left waiting') }),
  /** The connection was closed before the answer had ended. */
  z.object({ type: z.literal('hung up'), atMs: z.number() }),
]);
export type UpstreamReport = z.infer<typeof UpstreamReport>;

/** Sends a report; the upstream calls it. */
export function report(what: UpstreamReport): void {
  process.send?.(what);
}
