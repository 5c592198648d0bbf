/** A run with followers over both transports, brought to where it waits for others, and put to sleep there. */
import { evictDurableObject } from 'cloudflare:test';
import { expect } from 'vitest';
import type { StreamEvent } from '../../../shared/wire/events.ts';
import { openSocket, type SocketReader } from '../follow/socket-reader.ts';
import type { SseReader } from '../follow/sse-reader.ts';
import { type ScriptedBridge, tunnelOf } from '../tunnel/scripted-bridge.ts';
import { askAtBridge, conversationObject, readResponse } from './conversing.ts';
import { type HeldModel, runCommand } from './held-model.ts';

export interface Followed {
  readonly model: HeldModel;
  readonly bridge: ScriptedBridge;
  readonly sse: SseReader;
  readonly socket: SocketReader;
  readonly responseId: string;
  readonly conversationId: string;
}

/** A run that has not asked the model yet. */
export async function startFollowed(): Promise<Followed> {
  const { model, bridge, reader, ...ids } = await askAtBridge();
  const socket = await openSocket(`chat/completions/${ids.responseId}/events`);
  return { model, bridge, sse: reader, socket, ...ids };
}

/** Lets the model call a tool that the bridge now runs. Returns the call's id. */
export async function waitForTool(followed: Followed): Promise<string> {
  (await followed.model.next()).answer({ calls: [runCommand('make')] });
  const { callId } = await followed.bridge.nextCall();
  await untilBothSee(followed, 'tool_call_arguments');
  return callId;
}

/** Like {@link waitForTool}, and the bridge asks a person first. */
export async function waitForApproval(followed: Followed): Promise<string> {
  const callId = await waitForTool(followed);
  followed.bridge.ask(callId);
  await untilBothSee(followed, 'approval_request');
  return callId;
}

/** Lets the model ask the user, question `q1` with the options `a` and `b`. Returns the document's id. */
export async function waitForClarification(followed: Followed): Promise<string> {
  (await followed.model.next()).answer({ calls: [{ name: 'ask_question', arguments: ASKED }] });
  await untilBothSee(followed, 'clarification_request');
  return 'doc_001';
}

const ASKED = {
  title: 'Before I go on:',
  questions: [
    {
      id: 'q1',
      prompt: 'This or that?',
      options: [
        { id: 'a', label: 'This' },
        { id: 'b', label: 'That' },
      ],
    },
  ],
};

export async function untilBothSee(
  { sse, socket }: Followed,
  type: StreamEvent['type'],
): Promise<void> {
  await Promise.all([sse.untilType(type), socket.untilType(type)]);
}

/** Meant is "at once", also on a busy machine; an object that anything keeps awake is only let go after more than 10 s. */
const AT_ONCE_MS = 9_000;

/** Evicts the conversation and its tunnel, as the platform does where nothing is pending. @throws if something is. */
export async function fallAsleep({ conversationId, bridge }: Followed): Promise<void> {
  const asleep = Promise.all([
    evictDurableObject(conversationObject(conversationId)),
    evictDurableObject(tunnelOf(bridge.bridgeId)),
  ]);
  const late = Promise.withResolvers<never>();
  const bell = setTimeout(() => late.reject(new Error('an object is kept awake')), AT_ONCE_MS);
  await Promise.race([asleep, late.promise]).finally(() => clearTimeout(bell));
}

/** Asks both objects something that changes nothing. */
export async function wake({ responseId, bridge }: Followed): Promise<void> {
  expect((await readResponse(responseId)).status).toMatch(/^(streaming|waiting)$/);
  expect(await tunnelOf(bridge.bridgeId).status('ada')).toMatchObject({ connected: true });
}

/** Whether the conversation's object is in memory; if it was, it is not any more. */
export async function isAwake({ conversationId }: Followed): Promise<boolean> {
  try {
    await evictDurableObject(conversationObject(conversationId));
    return true;
  } catch (error) {
    expect(String(error)).toContain('not currently running');
    return false;
  }
}
