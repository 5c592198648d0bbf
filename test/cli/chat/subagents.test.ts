import { expect, it } from 'vitest';
import { runChat } from '../../../cli/chat/run-chat.ts';
import { ApprovalRequest } from '../../../shared/api/requests.ts';
import { approvalText, DEVICE_ALGORITHM } from '../../../shared/wire/approval-text.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import { askKeyOf } from '../../../shared/wire/fold.ts';
import type { SubagentAsk } from '../../../shared/wire/subagents.ts';
import { BRIDGE_ID, CALL_ID, SAMPLE_TAPE } from '../../client/sample-tape.ts';
import { eventsAfter, NEVER, startScriptedApi, streamText } from '../../client/scripted-api.ts';
import { scriptTerminal } from '../scripted-terminal.ts';
import { newChat, newDevice, newKeys, requested } from './scripted-chat.ts';

const CHILD_ID = 'conv_00000000-0000-4000-8000-00000c410000';
const NAMED = {
  conversationId: CHILD_ID,
  title: 'Make it',
  responseId: 'chat_00000000-0000-4000-8000-00000c410001',
  documentId: 'doc_001',
};
const APPROVAL: SubagentAsk = {
  ...NAMED,
  kind: 'approval',
  callId: CALL_ID,
  bridgeId: BRIDGE_ID,
  nonce: 'n-1',
  proposal: { kind: 'call', tool: 'run_terminal_cmd', arguments: { command: 'make' } },
  reason: 'Commands ask.',
};
const QUESTIONS: SubagentAsk = {
  ...NAMED,
  kind: 'clarification',
  questions: [{ id: 'way', text: 'Which way?', options: [{ id: 'left', label: 'Left' }] }],
};
const APPROVE = `POST conversations/${CHILD_ID}/approvals/${CALL_ID}`;
const CLARIFY = `POST conversations/${CHILD_ID}/clarifications/doc_001`;
const STATE = { type: 'generalPurpose', model: 'demo', turnCount: 2, toolCallCount: 3 } as const;

/** A response whose subagent asks this. */
function tapeWith(ask: SubagentAsk): { tape: TapeEvent[]; untilAsked: string } {
  const documentId = 'doc_001';
  const working = { ...STATE, status: 'streaming', activity: 'grep, read_file' } as const;
  const asked: TapeEvent[] = [
    ...SAMPLE_TAPE.slice(0, 2),
    { type: 'document_start', document: { id: documentId, type: 'tool_call', sequence: 1 } },
    { type: 'tool_call_start', documentId, toolName: 'task', toolCallId: CALL_ID },
    { type: 'tool_call_arguments', documentId, arguments: { description: 'Make it' } },
    { type: 'subagent_update', documentId, subagent: working },
    { type: 'subagent_ask', documentId, ask },
  ];
  const tape: TapeEvent[] = [
    ...asked,
    { type: 'subagent_answered', documentId, key: askKeyOf(ask) },
    { type: 'tool_result', documentId, result: { status: 'success', data: 'Made.' } },
    { type: 'document_end', documentId, metadata: { duration_ms: 5 } },
    ...SAMPLE_TAPE.slice(-1),
  ];
  return { tape, untilAsked: streamText(eventsAfter(tape, 0).slice(0, asked.length)) };
}

it('signs an approval for the conversation of the subagent that asks', async () => {
  const { tape, untilAsked } = tapeWith(APPROVAL);
  await using api = await startScriptedApi(tape);
  api.answers.set(APPROVE, {});
  api.fates.push({ type: 'text', text: untilAsked, rest: requested(api, APPROVE) });
  const { device, publicKey } = await newKeys();
  const terminal = scriptTerminal({ answers: ['y'] });
  expect(await runChat(newChat(api, terminal, device), ['Hi'])).toBe(0);
  const { body } = api.requests.find(({ line }) => line === APPROVE) ?? {};
  const { signature } = ApprovalRequest.parse(body);
  const bytes = Buffer.from(signature?.value ?? '', 'base64url');
  const signed = new TextEncoder().encode(approvalText(APPROVAL as never));
  expect(await crypto.subtle.verify(DEVICE_ALGORITHM, publicKey, bytes, signed)).toBe(true);
  const screen = terminal.screen();
  expect(screen).toContain('Make it: grep, read_file (turn 2)');
  expect(screen).toContain('The subagent “Make it” asks:');
  expect(screen).toContain('? run_terminal_cmd needs your approval: Commands ask.');
});

it('answers the questions of a subagent at its conversation', async () => {
  const { tape, untilAsked } = tapeWith(QUESTIONS);
  await using api = await startScriptedApi(tape);
  api.answers.set(CLARIFY, {});
  api.fates.push({ type: 'text', text: untilAsked, rest: requested(api, CLARIFY) });
  const terminal = scriptTerminal({ answers: ['1'] });
  expect(await runChat(newChat(api, terminal), ['Hi'])).toBe(0);
  const answers = [{ questionId: 'way', optionIds: ['left'] }];
  expect(api.requests.filter(({ line }) => line === CLARIFY)).toEqual([
    { line: CLARIFY, body: { answers, responseId: NAMED.responseId } },
  ]);
  expect(terminal.screen()).toContain('? Which way?');
});

it('withdraws a question of a subagent that was answered elsewhere', async () => {
  const { tape } = tapeWith(APPROVAL);
  await using api = await startScriptedApi(tape);
  const terminal = scriptTerminal();
  expect(await runChat(newChat(api, terminal, await newDevice()), ['Hi'])).toBe(0);
  expect(api.requests.map(({ line }) => line)).not.toContain(APPROVE);
});

it('waits in a pipe with exit code 3 for an answer that it cannot ask for', async () => {
  const { tape, untilAsked } = tapeWith(APPROVAL);
  await using api = await startScriptedApi(tape);
  api.fates.push({ type: 'text', text: untilAsked, rest: NEVER });
  const terminal = scriptTerminal({ piped: 'Hi' });
  expect(await runChat(newChat(api, terminal, await newDevice()), ['Hi'])).toBe(3);
});
