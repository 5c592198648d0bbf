/** Frames as they come from a bridge, and what is said to one that cannot be understood. */
import { TUNNEL_LIMITS } from '../../shared/limits.ts';
import { BridgeFrame, type ToolCall, TUNNEL_PROTOCOL } from '../../shared/tunnel.ts';

/** Null for what is no frame of this protocol version. */
export function parseFrame(message: string | ArrayBuffer): BridgeFrame | null {
  if (typeof message !== 'string' || message.length > TUNNEL_LIMITS.maxFrameBytes) return null;
  try {
    return BridgeFrame.safeParse(JSON.parse(message)).data ?? null;
  } catch {
    return null; // Not JSON.
  }
}

/**
 * How many of the calls one welcome can bring; a bridge that is sent a larger frame would be lost over it each time. Half a
 * frame is for what goes around them.
 */
export function countFitting(calls: readonly ToolCall[]): number {
  const encoder = new TextEncoder();
  let left = TUNNEL_LIMITS.maxFrameBytes / 2;
  const first = calls.findIndex((call) => {
    left -= encoder.encode(JSON.stringify(call)).byteLength;
    return left < 0;
  });
  return first < 0 ? calls.length : first;
}

/** Why a bridge of another version is turned away, and what to do. */
export function mismatch(theirs: number): string {
  const which = theirs < TUNNEL_PROTOCOL ? 'the bridge' : 'the server';
  return `The bridge speaks protocol ${theirs}, the server ${TUNNEL_PROTOCOL}: update ${which}.`;
}
