/** Judges a call as it comes from the edge, as admission does it once the arguments are read. */
import {
  type JudgedCall,
  judgeCall,
  type Policy,
  visibilityOf,
} from '../../../bridge/admission/policy.ts';
import type { Verdict } from '../../../bridge/admission/verdict.ts';
import type { Visibility } from '../../../bridge/admission/visibility.ts';
import { ToolFailure } from '../../../machine/failure.ts';
import { bindTool } from '../../../packages/host/tool.ts';
import { findTool } from '../../../shared/tools/catalogue.ts';
import type { ToolCall } from '../../../shared/wire/tunnel.ts';

/** A call by any of its names. */
export type RawCall = Pick<ToolCall, 'tool' | 'arguments' | 'mode' | 'limits' | 'approvalReason'> &
  Pick<JudgedCall, 'closed'>;

/** What cannot be read is refused before it is judged. */
export function judge(call: RawCall, policy: Policy): Verdict {
  try {
    return judgeCall(read(call), policy);
  } catch (error) {
    if (error instanceof ToolFailure) return { decision: 'deny', reason: error.message };
    throw error;
  }
}

export function visibility(call: RawCall, policy: Policy): Visibility | undefined {
  return visibilityOf(read(call), policy);
}

function read({ tool, arguments: args, ...rest }: RawCall): JudgedCall {
  const definition = findTool(tool);
  if (!definition) throw new ToolFailure('UNKNOWN_TOOL', tool);
  const propose = () => Promise.reject(new Error('not proposed'));
  const { args: parsed, subjects } = bindTool(definition, { propose }).read(args, 'conv_test');
  return { definition, args: parsed, subjects, ...rest };
}
