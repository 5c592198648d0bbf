import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mintToken } from '../../local/state/tokens.ts';
import { newBridgeId } from '../../shared/ids.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { sendAllowing } from './allowing.ts';
import { endProcess, type House, startHouse, until } from './house.ts';

it('lets the model use a tool that a bridge offers, once a device has allowed it', async () => {
  const call = { name: 'mcp_tickets_find', arguments: { word: 'crash' } };
  const model = await startScriptedModel(({ messages }) => {
    const isAsked = JSON.stringify(messages.at(-1)).includes('Find it');
    return isAsked ? { calls: [call] } : { text: 'Over.' };
  });
  await using house = await startHouse({ modelUrl: model.baseUrl });
  const { bridgeId, workspace, child } = await startOffering(house);
  try {
    const said = (content: string) => ({
      messages: [{ role: 'user' as const, content }],
      bridgeId,
    });
    await until(async () => {
      await house.client.chat(said('Hello')).catch(() => undefined); // It may not be connected yet.
      return JSON.stringify(model.requests.at(-1)?.tools ?? []).includes(call.name);
    });
    const { response, asked } = await sendAllowing(house, 'Find it', { bridgeId });
    expect(asked.map(({ proposal }) => proposal)).toMatchObject([
      {
        kind: 'call',
        tool: call.name,
        arguments: call.arguments,
        offer: { server: 'tickets', tool: 'find' },
      },
    ]);
    expect(response).toMatchObject({ status: 'completed' });
    expect(response.documents[0]).toMatchObject({
      type: 'tool_call',
      metadata: {
        toolName: call.name,
        arguments: call.arguments,
        result: { status: 'success', data: 'tickets about crash' },
      },
    });
    expect(readFileSync(join(workspace, 'called.txt'), 'utf8')).toBe('crash\n');
  } finally {
    await endProcess(child);
  }
});

/** A bridge beside the house's own, which trusts the same device. */
async function startOffering(house: House) {
  const bridgeId = newBridgeId(crypto.randomUUID());
  const workspaceDir = join(house.folder, 'offering');
  const stateDir = join(house.folder, 'offering-state');
  mkdirSync(workspaceDir);
  mkdirSync(stateDir, { mode: 0o700 });
  const devices = readFileSync(join(house.state, 'devices.json'), 'utf8');
  writeFileSync(join(stateDir, 'devices.json'), devices, { mode: 0o600 });
  const secret = readFileSync(join(house.state, 'auth-secret'), 'utf8').trim();
  const token = await mintToken(secret, { scope: 'bridge', bridgeId }, new Date());
  const config = { url: house.ready.url, token, bridgeId, workspaceDir, stateDir };
  const script = join(import.meta.dirname, '..', 'bridge', 'offering-bridge.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(config)], { stdio: 'ignore' });
  return { bridgeId, workspace: workspaceDir, child };
}
