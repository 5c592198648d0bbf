/** Frames as they come from a bridge, and what is said to one that cannot be understood. */
import { TUNNEL_LIMITS } from '../../shared/limits.ts';
import { BridgeFrame, TUNNEL_PROTOCOL } from '../../shared/tunnel.ts';

/** Null for what is no frame of this protocol version. */
export function parseFrame(message: string | ArrayBuffer): BridgeFrame | null {
  if (typeof message !== 'string' || message.length > TUNNEL_LIMITS.maxFrameBytes) return null;
  try {
    return BridgeFrame.safeParse(JSON.parse(message)).data ?? null;
  } catch {
    return null; // Not JSON.
  }
}

/** Why a bridge of another version is turned away, and what to do. */
export function mismatch(theirs: number): string {
  const which = theirs < TUNNEL_PROTOCOL ? 'the bridge' : 'the server';
  return `The bridge speaks protocol ${theirs}, the server ${TUNNEL_PROTOCOL}: update ${which}.`;
}
