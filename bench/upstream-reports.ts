/** What a scripted upstream tells the process that started it. */
import * as z from 'zod';

/** Times are of the clock that all processes of a run share. */
export const UpstreamReport = z.discriminatedUnion('type', [
  z.object({ type: z.literal('listening'), port: z.int() }),
  /** A request came that is left without an answer, its headers included. */
  z.object({ type: z.literal('left waiting') }),
  /** The connection was closed under an answer that had not ended. */
  z.object({ type: z.literal('hung up'), atMs: z.number() }),
]);
export type UpstreamReport = z.infer<typeof UpstreamReport>;

/** For the upstream's side. */
export function report(what: UpstreamReport): void {
  process.send?.(what);
}
