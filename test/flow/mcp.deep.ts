import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { callDrawbridge } from '../cli/called.ts';
import type { ScriptedCall } from '../far-ends/reply-script.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { sendAllowing } from './allowing.ts';
import { type House, startHouse, until } from './house.ts';

/** What the model calls when it is asked to `Use <tool>.` */
const CALLS: Readonly<Record<string, ScriptedCall>> = {
  echo: { name: 'mcp_demo_echo', arguments: { words: 'Grüße' } },
  die: { name: 'mcp_demo_die_once', arguments: { file: join(tmpdir(), `die-${process.pid}`) } },
  book: { name: 'mcp_demo_book', arguments: {} },
  note: { name: 'mcp_demo_resources_read', arguments: { uri: 'note://1' } },
  mixed: { name: 'mcp_demo_mixed', arguments: {} },
};

/** It ends at once. */
const GONE = { command: process.execPath, args: ['-e', 'process.exit(3)'] };

let model: Awaited<ReturnType<typeof startScriptedModel>>;
let house: House;

beforeAll(async () => {
  model = await startScriptedModel(({ messages }) => {
    const [, tool = ''] = /Use (\w+)\./.exec(JSON.stringify(messages.at(-1))) ?? [];
    const call = CALLS[tool];
    return call ? { calls: [call] } : { text: 'Over.' };
  });
  house = await startHouse({ modelUrl: model.baseUrl, isOfBridge: true });
  const server = {
    command: process.execPath,
    args: [join(import.meta.dirname, '../far-ends/mcp-server.ts')],
  };
  // The bridge is running already.
  writeFileSync(
    join(house.state, 'mcp.json'),
    JSON.stringify({ mcpServers: { demo: server, gone: GONE } }),
  );
  await until(async () => {
    await sendAllowing(house, 'Hello');
    return JSON.stringify(model.requests.at(-1)?.tools ?? []).includes('mcp_demo_echo');
  });
  return async () => {
    await house[Symbol.asyncDispose]();
    await model.close();
  };
});

it('lets the model use a tool of an MCP server that the owner has listed, once it was allowed', async () => {
  const { response, asked } = await sendAllowing(house, 'Use echo.');
  expect(asked.map(({ proposal }) => proposal)).toMatchObject([
    {
      tool: 'mcp_demo_echo',
      arguments: { words: 'Grüße' },
      offer: { server: 'demo', tool: 'echo' },
    },
  ]);
  expect(response.documents[0]).toMatchObject({
    type: 'tool_call',
    metadata: { toolName: 'mcp_demo_echo', result: { status: 'success', data: 'Grüße' } },
  });
});

it('shows people the images that the tool returned', async () => {
  const { response } = await sendAllowing(house, 'Use mixed.');
  expect(response.documents[0]?.metadata).toMatchObject({
    images: [{ mimeType: 'image/png', data: 'MTIzNDU=' }],
    result: { data: expect.stringContaining('shown to the person') },
  });
});

it('lets the model read a resource of the server, and lists it for people', async () => {
  const { response, asked } = await sendAllowing(house, 'Use note.');
  expect(asked).toHaveLength(1);
  expect(response.documents[0]?.metadata).toMatchObject({
    result: { status: 'success', data: '[resource: note://1]\nthe first note' },
  });
  expect(await house.client.getBridge(house.ready.bridgeId ?? '')).toMatchObject({
    id: house.ready.bridgeId,
    mcpServers: [{ name: 'demo', state: 'ready', resources: [{ uri: 'note://1' }] }, {}],
  });
});

it('shows the owner in `mcp` and in `status` which server is down, and why', async () => {
  const location = ['--workspace', house.workspace, '--state', house.state];
  // Between two starts it is starting.
  await until(async () => {
    const { stdout } = await callDrawbridge(['mcp', ...location]);
    return /\trunning, 13 tools\ngone\t.*\tdown, it ended with exit code 3/.test(stdout);
  });
  await until(async () => {
    const { stdout } = await callDrawbridge(['status', ...location]);
    return /MCP server gone: down, it ended with exit code 3/.test(stdout);
  });
});

it('asks the person what the server wants to know in the middle of its call', async () => {
  const values = '{"seat":"w","meal":true}';
  const { response, asked } = await sendAllowing(house, 'Use book.', {}, values);
  expect(asked.map(({ proposal }) => proposal)).toMatchObject([
    { kind: 'call', tool: 'mcp_demo_book' },
    {
      kind: 'elicitation',
      tool: 'mcp_demo_book',
      server: 'demo',
      number: 1,
      message: 'How do you want to travel?',
      fields: [{ name: 'seat' }, {}, {}],
    },
  ]);
  expect(response.documents[0]?.metadata).toMatchObject({
    result: {
      status: 'success',
      data: '{"action":"accept","content":{"seat":"w","meal":true}}',
    },
  });
});

it('calls a tool again after its server has died only where the owner lets it', async () => {
  const once = await sendAllowing(house, 'Use die.');
  expect(once.response.documents[0]?.metadata).toMatchObject({ result: { status: 'error' } });
  expect(once.response.documents[1]?.metadata).toMatchObject({ errorCode: 'UNKNOWN_OUTCOME' });
  const [question] = once.asked;
  const definition = question?.proposal.kind === 'call' && question.proposal.offer?.definition;
  const allowed = { tool: 'mcp:demo', pattern: 'demo/die_once', decision: 'allow', definition };
  writeFileSync(join(house.state, 'policy.json'), JSON.stringify({ rules: [allowed] }));
  rmSync(String(CALLS['die']?.arguments['file']));
  await until(async () => {
    const { response } = await sendAllowing(house, 'Use echo.');
    return Object(response.documents[0]?.metadata['result']).status === 'success';
  });
  const again = await sendAllowing(house, 'Use die.');
  rmSync(String(CALLS['die']?.arguments['file']));
  expect(again.asked).toEqual([]);
  expect(again.response.documents[0]?.metadata).toMatchObject({
    result: { status: 'success', data: 'alive' },
  });
});
