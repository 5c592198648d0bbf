import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { OpenApproval } from '../../shared/wire/approvals.ts';
import { deviceOf } from './allowing.ts';
import { type House, startHouse, until } from './house.ts';

it('shows another agent’s changes on the devices, and reports what a person decided', async () => {
  await using house = await startHouse();
  const file = join(house.workspace, 'a.txt');
  writeFileSync(file, 'one\n');
  await using guest = await connectGuest(house);

  await guest.openDiff(file, 'two\n');
  const first = await nextApproval(house);
  expect(first).toMatchObject({
    title: expect.stringMatching(/^gemini-cli 9\.9.* in /),
    proposal: { kind: 'edit', path: 'a.txt', diff: [{ oldString: 'one', newString: 'two' }] },
    newText: 'two\n',
  });
  await house.client.allowCall(first, deviceOf(house), { content: 'mine\n' });
  expect(await guest.answer()).toEqual({
    method: 'ide/diffAccepted',
    params: { filePath: file, content: 'mine\n' },
  });
  expect(readFileSync(file, 'utf8')).toBe('one\n');

  await guest.openDiff(file, 'three\n');
  const second = await nextApproval(house);
  expect(second.conversationId).toBe(first.conversationId);
  const { conversationId } = second;
  await house.client.rejectCall(second);
  expect(await guest.answer()).toMatchObject({
    method: 'ide/diffRejected',
    params: { filePath: file },
  });

  await guest.openDiff(file, 'four\n');
  await nextApproval(house);
  expect(await guest.closeDiff(file)).toEqual({ content: 'four\n' });
  // A person has accepted it in the agent's own program, which writes it then.
  writeFileSync(file, 'four\n');
  const statuses = async () => {
    const { responses } = await house.client.getConversation(conversationId);
    return responses.map(({ status }) => status);
  };
  await expect.poll(statuses).toEqual(['completed', 'completed', 'completed']);
  expect((await house.client.listApprovals()).items).toEqual([]);
  const { responses } = await house.client.getConversation(conversationId);
  // After a failed call, an `error` document follows.
  expect(responses[2]?.documents).toMatchObject([
    { type: 'file_edit', metadata: { filePath: 'a.txt', diff: { newString: 'four' } } },
  ]);
});

async function nextApproval(house: House): Promise<OpenApproval> {
  let items: readonly OpenApproval[] = [];
  await until(async () => {
    ({ items } = await house.client.listApprovals());
    return items.length > 0;
  });
  return items[0] as OpenApproval;
}

/** An agent's program in its role towards an editor. */
async function connectGuest(house: House) {
  writeFileSync(join(house.state, 'companion.json'), JSON.stringify({ enabled: true }));
  const running = join(house.state, 'companion-running.json');
  let variables: Record<string, string> = {};
  await until(() => {
    try {
      ({ variables } = JSON.parse(readFileSync(running, 'utf8')));
      return true;
    } catch {
      return false;
    }
  });
  const port = variables['GEMINI_CLI_IDE_SERVER_PORT'];
  const authorization = `Bearer ${variables['GEMINI_CLI_IDE_AUTH_TOKEN']}`;
  const client = new Client({ name: 'gemini-cli', version: '9.9' });
  const waiting: object[] = [];
  for (const method of ['ide/diffAccepted', 'ide/diffRejected'] as const) {
    const schema = z.object({ method: z.literal(method), params: z.unknown() });
    client.setNotificationHandler(schema, ({ params }) => {
      waiting.push({ method, params });
    });
  }
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const requestInit = { headers: { authorization } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  const call = async (name: string, args: Record<string, unknown>) =>
    await client.callTool({ name, arguments: args });
  return {
    openDiff: (filePath: string, newContent: string) => call('openDiff', { filePath, newContent }),
    closeDiff: async (filePath: string) => {
      const { content } = await call('closeDiff', { filePath });
      return JSON.parse(z.array(z.object({ text: z.string() })).parse(content)[0]?.text ?? '');
    },
    answer: async () => {
      await until(() => waiting.length > 0);
      return waiting.shift();
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
