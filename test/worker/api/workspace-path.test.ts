import { expect, it } from 'vitest';
import {
  callMethod,
  enveloped,
  envelopesOf,
  saying,
} from '../../../doors/test/cursor/connect/calling.ts';
import { call, scriptModel } from '../api.ts';

const ASKED = { messages: [{ role: 'user', content: 'hello' }] };

it.each<[string, (workspacePath: string) => Promise<unknown>]>([
  [
    'a message',
    async (workspacePath) =>
      await (
        await call('chat/completions', { body: { ...ASKED, context: { workspacePath } } })
      ).text(),
  ],
  [
    'a completion in OpenAI’s shape',
    async (workspacePath) =>
      await (
        await call('../../v1/chat/completions', { body: { ...ASKED, context: { workspacePath } } })
      ).text(),
  ],
  [
    'a chat of Cursor',
    async (workspaceRootPath) =>
      await envelopesOf(
        await callMethod('StreamChat', enveloped(saying('hello', { workspaceRootPath }))),
      ),
  ],
])('%s may name its folder by a URI', async (_, send) => {
  const requests = scriptModel(() => ({ text: 'hi' }));
  await send('file:///asked/for%20you');
  expect(JSON.stringify(requests[0]?.messages)).toContain('Workspace: /asked/for you');
  await send('file:///C:/asked');
  expect(JSON.stringify(requests[1]?.messages)).toContain('Workspace: file:///C:/asked');
});
