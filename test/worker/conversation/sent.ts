/** A conversation with a bridge that can look, and what its model gets. */
import { expect } from 'vitest';
import type { ScriptedRequest } from '../../far-ends/reply-script.ts';
import { chat, scriptModel } from '../api.ts';
import { connectLookingBridge, type ScriptedBridge } from '../tunnel/scripted-bridge.ts';

/** `answer` gets the number of the turn, without summaries. `say` waits for the answer. */
export async function conversation(
  answer: (turn: number) => ReturnType<Parameters<typeof scriptModel>[0]> = () => ({}),
) {
  const bridge = await connectLookingBridge();
  let turn = 0;
  const requests = scriptModel((request, number) =>
    isSummary(request) ? { text: `Summary ${number}.` } : { text: 'Ok.', ...answer(turn++) },
  );
  let id: string | undefined;
  const say = async (content: string, more: Record<string, unknown> = {}) => {
    const place = id === undefined ? { bridgeId: bridge.bridgeId } : { conversationId: id };
    const response = await chat(content, { ...place, ...more });
    id = response.conversationId;
    return response;
  };
  const sent = () => saidBy(requests.at(-1));
  return { bridge, requests, say, sent, conversationId: () => id ?? '' };
}

/** The user's messages. */
export function saidBy(request: ScriptedRequest | undefined): string[] {
  return (request?.messages ?? [])
    .filter(({ role }) => role === 'user')
    .map(({ content }) => String(content));
}

export function query(words: string): string {
  return `<user_query>\n${words}\n</user_query>`;
}

export async function answerCalls(bridge: ScriptedBridge, count: number): Promise<void> {
  for (let call = 0; call < count; call++) {
    bridge.succeed((await bridge.nextCall()).callId, 'content');
  }
}

/** Each request goes on where the one before ended. */
export function expectPrefixes(requests: readonly ScriptedRequest[]): void {
  for (const [index, { messages }] of requests.entries()) {
    const next = requests[index + 1]?.messages.slice(0, messages.length) ?? messages;
    expect(JSON.stringify(next)).toBe(JSON.stringify(messages));
  }
}

/** The requests under each window, in order. There must be several windows. */
export function windowsOf(requests: readonly ScriptedRequest[]): ScriptedRequest[][] {
  const asked = requests.filter((request) => !isSummary(request));
  const windows = Map.groupBy(asked, ({ messages }) => JSON.stringify(messages[1]));
  expect(windows.size).toBeGreaterThan(1);
  return [...windows.values()];
}

function isSummary({ messages }: ScriptedRequest): boolean {
  return String(messages[0]?.content).startsWith('You write a summary');
}
