import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { sendAllowing } from './allowing.ts';
import { startHouse, until } from './house.ts';

it('lets the model use a tool of an MCP server that the owner has listed, once it was allowed', async () => {
  const call = { name: 'mcp_demo_echo', arguments: { words: 'Grüße' } };
  const model = await startScriptedModel(({ messages }) => {
    const isAsked = JSON.stringify(messages.at(-1)).includes('Say it');
    return isAsked ? { calls: [call] } : { text: 'Over.' };
  });
  await using house = await startHouse({ modelUrl: model.baseUrl });
  const server = {
    command: process.execPath,
    args: [join(import.meta.dirname, '../far-ends/mcp-server.ts')],
  };
  // The bridge is at work already.
  writeFileSync(join(house.state, 'mcp.json'), JSON.stringify({ mcpServers: { demo: server } }));
  await until(async () => {
    await sendAllowing(house, 'Hello');
    return JSON.stringify(model.requests.at(-1)?.tools ?? []).includes(call.name);
  });
  const { response, asked } = await sendAllowing(house, 'Say it');
  expect(asked.map(({ proposal }) => proposal)).toMatchObject([
    { tool: call.name, arguments: call.arguments, offer: { server: 'demo', tool: 'echo' } },
  ]);
  expect(response.documents[0]).toMatchObject({
    type: 'tool_call',
    metadata: { toolName: call.name, result: { status: 'success', data: 'Grüße' } },
  });
});
