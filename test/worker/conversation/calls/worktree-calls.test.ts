import { expect, it } from 'vitest';
import { loggedCall } from '../../../../worker/conversation/calls/calls.ts';
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
  const known = { call, tool: 'read_file', mode: 'agent', limits: undefined };
  const [there, here] = [runWith({ worktree: true }), runWith({})];
  expect(loggedCall(call, there)).toEqual({ ...known, run: there, worktree: true });
  expect(loggedCall(call, here)).toEqual({ ...known, run: here });
});
