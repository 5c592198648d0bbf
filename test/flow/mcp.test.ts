import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Device, signApproval } from '../../client/device.ts';
import type { StreamEvent } from '../../shared/events.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, startHouse, until } from './house.ts';

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
  const said = (content: string) => ({ messages: [{ role: 'user' as const, content }] });
  await until(async () => {
    await house.client.chat(said('Hello'));
    return JSON.stringify(model.requests.at(-1)?.tools ?? []).includes(call.name);
  });
  const events: StreamEvent[] = [];
  let conversationId = '';
  for await (const { event } of house.client.streamChat(said('Say it'))) {
    events.push(event);
    if (event.type === 'response_start') conversationId = event.response.conversationId;
    if (event.type !== 'approval_request') continue;
    expect(event.proposal).toMatchObject({
      tool: call.name,
      offer: { server: 'demo', tool: 'echo' },
    });
    const signature = await signApproval(deviceOf(house), { ...event, conversationId });
    const path = `/api/v1/conversations/${conversationId}/approvals/${event.callId}`;
    const body = JSON.stringify({ nonce: event.nonce, decision: 'once', signature });
    expect((await house.fetch(path, { method: 'POST', body })).status).toBe(200);
  }
  const { responses } = await house.client.getConversation(conversationId);
  expect(responses[0]?.documents[0]).toMatchObject({
    type: 'tool_call',
    metadata: { toolName: call.name, result: { status: 'success', data: 'Grüße' } },
  });
});

function deviceOf(house: House): Device {
  const stored = JSON.parse(readFileSync(join(house.state, 'device.json'), 'utf8'));
  return { deviceId: stored.deviceId, privateJwk: stored.privateKey };
}
