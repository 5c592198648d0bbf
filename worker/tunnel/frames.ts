/** Parses the frames of a bridge, and words the refusal of a bridge with another protocol version. */

import { RUN_LIMITS, TUNNEL_LIMITS } from '../../shared/limits.ts';
import { JsonDepthError, parseJson, tooDeep } from '../../shared/text/json.ts';
import { JSON_LIMITS } from '../../shared/text/limits.ts';
import type { Proposal } from '../../shared/wire/approvals.ts';
import {
  type ApprovalAnswer,
  BridgeFrame,
  failure,
  Greeting,
  type ToolCall,
  TUNNEL_PROTOCOL,
} from '../../shared/wire/tunnel.ts';

/** A hello of another protocol version. Its other fields may have any form. */
export interface ForeignHello {
  readonly type: 'foreign_hello';
  readonly protocol: number;
}

/** Null if the message is not a frame of this protocol version. Reads the version first. */
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

/** A result's data lies two levels down in its frame. */
const MAX_DEPTH = JSON_LIMITS.maxDepth + 2;

/** Replaces a result that nests too deeply by an error: a refused bridge would send it again and again. */
function withoutDepth(message: string): BridgeFrame | null {
  const frame = BridgeFrame.safeParse(JSON.parse(message)).data;
  return frame?.type === 'result' ? { ...frame, result: TOO_DEEP } : null;
}

const TOO_DEEP = failure(
  'RESULT_TOO_DEEP',
  `The tool's result cannot be taken, whatever the tool did: check before you repeat it. ${tooDeep()}.`,
);

/** How many calls or answers fit into `share` of a welcome: a larger frame would break each connection. */
export function countFitting(
  parts: readonly ToolCall[] | readonly ApprovalAnswer[],
  share: number,
): number {
  const encoder = new TextEncoder();
  let left = TUNNEL_LIMITS.maxFrameBytes * share;
  const first = parts.findIndex((part) => {
    left -= encoder.encode(JSON.stringify(part)).byteLength;
    return left < 0;
  });
  return first < 0 ? parts.length : first;
}

/** Whether the proposal is small enough to be stored. */
export function fitsRow(proposal: Proposal): boolean {
  const bytes = new TextEncoder().encode(JSON.stringify(proposal)).byteLength;
  return bytes <= RUN_LIMITS.maxProposalBytes;
}

/** The refusal of a bridge with another protocol version. */
export function mismatch(theirs: number): string {
  const which = theirs < TUNNEL_PROTOCOL ? 'the bridge' : 'the server';
  return `The bridge speaks protocol ${theirs}, the server ${TUNNEL_PROTOCOL}: update ${which}.`;
}
