import { expect, it } from 'vitest';
import { responseIdOf } from '../../../../shared/ids.ts';
import { bridgeCall } from '../../../../worker/conversation/calls/calls.ts';
import type { Call, RequestFields, Run } from '../../../../worker/conversation/store/rows.ts';

const call: Call = {
  callId: 'call_1',
  upstreamId: 'a',
  documentId: 'doc_001',
  name: 'Read',
  rawArguments: '{"target_file":"a"}',
  arguments: { target_file: 'a' },
};

function runWith(fields: Partial<RequestFields>): Run {
  const request = { model: 'm', mode: 'agent', messages: [], createdMs: 0, ...fields } as const;
  const place = { ordinal: 1, status: 'running', first: 0, started: 1, last: null } as const;
  const rest = { machine: null, takeovers: 0, deadline: null, failures: 0, notBefore: 0 };
  return { ...place, request: { type: 'message', ...request }, ...rest, firstTurn: 1 };
}

it('the calls of a run in a worktree go there, and those of another run do not', () => {
  const conversationId = 'conv_22222222-2222-4222-8222-222222220000';
  const known = {
    callId: 'call_1',
    tool: 'read_file',
    mode: 'agent',
    arguments: { target_file: 'a' },
    run: responseIdOf(conversationId, 1),
  };
  const callIn = (run: Run) => bridgeCall(call, { conversationId, run });
  expect(callIn(runWith({ worktree: true }))).toEqual({ ...known, worktree: true });
  expect(callIn(runWith({}))).toEqual(known);
});
