/** Frames as they come from a bridge, and what is said to one that cannot be understood. */
import type { Proposal } from '../../shared/approvals.ts';
import { JsonDepthError, parseJson, tooDeep } from '../../shared/json.ts';
import { JSON_LIMITS, RUN_LIMITS, TUNNEL_LIMITS } from '../../shared/limits.ts';
import {
  BridgeFrame,
  Greeting,
  type ToolCall,
  type ToolResult,
  TUNNEL_PROTOCOL,
} from '../../shared/tunnel.ts';

/** A hello of another version: its other fields may have any form. */
export interface ForeignHello {
  readonly type: 'foreign_hello';
  readonly protocol: number;
}

/** Null for what is no frame of this protocol version. The version itself is read first. */
export function parseFrame(message: string | ArrayBuffer): BridgeFrame | ForeignHello | null {
  if (typeof message !== 'string' || message.length > TUNNEL_LIMITS.maxFrameBytes) return null;
  try {
    return toFrame(parseJson(message, MAX_DEPTH));
  } catch (error) {
    return error instanceof JsonDepthError ? withoutDepth(message) : null;
  }
}

function toFrame(json: unknown): BridgeFrame | ForeignHello | null {
  const { data: greeting } = Greeting.safeParse(json);
  if (greeting?.type === 'hello' && greeting.protocol !== TUNNEL_PROTOCOL) {
    return { type: 'foreign_hello', protocol: greeting.protocol };
  }
  return BridgeFrame.safeParse(json).data ?? null;
}

/** What a result tells beside its text lies two levels down in its frame. */
const MAX_DEPTH = JSON_LIMITS.maxDepth + 2;

/** The bridge would bring the same result again after each connection, so it is no reason to turn the bridge away. */
function withoutDepth(message: string): BridgeFrame | null {
  const frame = BridgeFrame.safeParse(JSON.parse(message)).data;
  return frame?.type === 'result' ? { ...frame, result: TOO_DEEP } : null;
}

const TOO_DEEP: ToolResult = {
  status: 'error',
  code: 'RESULT_TOO_DEEP',
  data: `The tool's result cannot be taken, whatever the tool did: check before you repeat it. ${tooDeep()}.`,
};

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

/** Whether a question with this proposal can be stored. */
export function fitsRow(proposal: Proposal): boolean {
  const bytes = new TextEncoder().encode(JSON.stringify(proposal)).byteLength;
  return bytes <= RUN_LIMITS.maxProposalBytes;
}

/** Why a bridge of another version is turned away, and what to do. */
export function mismatch(theirs: number): string {
  const which = theirs < TUNNEL_PROTOCOL ? 'the bridge' : 'the server';
  return `The bridge speaks protocol ${theirs}, the server ${TUNNEL_PROTOCOL}: update ${which}.`;
}
