/** A chat against a scripted API, and what the tests of chats share. */
import type { Chat } from '../../../cli/chat/chat.ts';
import { createClient } from '../../../client/client.ts';
import type { Device } from '../../../client/device.ts';
import type { ScriptedApi } from '../../client/scripted-api.ts';
import { createTestClock } from '../../client/test-clock.ts';
import type { ScriptedTerminal } from '../scripted-terminal.ts';

export function newChat(
  api: ScriptedApi,
  terminal: ScriptedTerminal,
  device: Device | null = null,
): Chat {
  const client = createClient({ url: api.url, token: 'token' }, createTestClock());
  return {
    client,
    device,
    terminal,
    format: 'text',
    mode: 'ask',
    model: 'demo',
    withReasoning: false,
    images: [],
    conversationId: undefined,
    targetWords: [],
  };
}

/** Resolves to nothing more to write once the API was asked this. */
export function requested(api: ScriptedApi, line: string): Promise<string> {
  return new Promise((resolve) => {
    api.onRequest = (asked) => {
      if (asked === line) resolve('');
    };
  });
}
