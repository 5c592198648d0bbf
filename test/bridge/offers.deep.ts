import type { ChildProcess } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BridgeFrame, ToolCall } from '../../shared/wire/tunnel.ts';
import { digestOf, fakeDefinition } from '../far-ends/fake-offer.ts';
import { BRIDGE_ID, type Device, newDevice } from './admission/device.ts';
import { spawnBridge } from './spawned-bridge.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from './tools/temporary-workspace.ts';
import { ScriptedTunnel, type TunnelConnection } from './tunnel/scripted-tunnel.ts';
import { newCall } from './tunnel/session-bench.ts';

const DEFINITION = digestOf(fakeDefinition());
const TRUSTED = {
  rules: [
    { tool: 'mcp:tickets', pattern: 'tickets/find', decision: 'allow', definition: DEFINITION },
  ],
};

let tunnel: ScriptedTunnel;
let place: TemporaryWorkspace;
let stateDir: string;
let device: Device;
beforeEach(async () => {
  tunnel = await ScriptedTunnel.open();
  place = await temporaryWorkspace({ 'a.txt': 'a\n' });
  stateDir = join(place.root, '..', 'state');
  device = await newDevice();
  await mkdir(stateDir);
  await writeFile(join(stateDir, 'devices.json'), JSON.stringify({ devices: [device.key] }));
});
afterEach(async () => await tunnel[Symbol.asyncDispose]());

describe('a bridge that offers a tool', () => {
  test('names the set in its hello, and sends the set when it is asked for it', async () => {
    startBridge();
    const connection = await tunnel.connection();
    const { offers = '' } = await connection.welcome();
    connection.send({ type: 'offers_wanted', digest: offers });
    const { set } = await connection.next('offers');
    expect(set).toEqual({
      digest: offers,
      offers: [{ ...fakeDefinition(), effect: 'execute', idempotent: false, digest: DEFINITION }],
      unavailable: [],
    });
  });

  test('sends another set when it changes, and refuses calls of the definition before', async () => {
    const child = startBridge();
    const connection = await tunnel.connection();
    const { offers } = await connection.welcome();
    child.kill('SIGUSR2');
    const { set } = await connection.next('offers');
    expect(set?.digest).not.toBe(offers);
    expect(set?.offers[0]?.digest).not.toBe(DEFINITION);
    connection.send({ type: 'call', call: find('bug') });
    const { result } = await connection.next('result');
    expect(result).toMatchObject({ status: 'error', code: 'TOOL_CHANGED' });
    expect(await called()).toBe('');
  });

  test('asks before it calls the tool, whatever its server says of it', async () => {
    startBridge();
    const connection = await tunnel.welcomed();
    const call = find('bug');
    connection.send({ type: 'call', call });
    const asked = await connection.next('approval_request');
    expect(asked).toMatchObject({
      reason: expect.stringContaining(DEFINITION),
      proposal: {
        kind: 'call',
        tool: 'mcp_tickets_find',
        arguments: { word: 'bug' },
        offer: { server: 'tickets', tool: 'find', definition: DEFINITION },
      },
    });
    await approve(connection, call, asked);
    const { result } = await connection.next('result');
    expect(result).toMatchObject({ status: 'success', data: 'tickets about bug' });
    expect(await called()).toBe('bug\n');
  });

  test('does not run what was approved once its server has changed the definition', async () => {
    const child = startBridge();
    const connection = await tunnel.welcomed();
    const call = find('bug');
    connection.send({ type: 'call', call });
    const asked = await connection.next('approval_request');
    child.kill('SIGUSR2');
    await connection.next('offers');
    await approve(connection, call, asked);
    const { result } = await connection.next('result');
    expect(result).toMatchObject({ status: 'error', code: 'TOOL_CHANGED' });
    expect(await called()).toBe('');
  });

  test('checks the arguments by the schema and says where they do not fit, and the mode', async () => {
    startBridge();
    const connection = await tunnel.welcomed();
    const wrong = { ...find('bug'), arguments: { word: '' } };
    connection.send({ type: 'call', call: wrong });
    expect((await connection.next('result')).result).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      data: expect.stringMatching(/^Invalid arguments for \w+: #\/word: /),
    });
    connection.send({ type: 'call', call: { ...find('bug'), mode: 'ask' } });
    expect((await connection.next('result')).result).toMatchObject({ code: 'DENIED' });
  });

  test('believes the server where the owner allows this very definition', async () => {
    await writeFile(join(stateDir, 'policy.json'), JSON.stringify(TRUSTED));
    const child = startBridge();
    const connection = await tunnel.connection();
    const { offers = '' } = await connection.welcome();
    connection.send({ type: 'offers_wanted', digest: offers });
    const { set } = await connection.next('offers');
    expect(set?.offers[0]).toMatchObject({ effect: 'read', idempotent: true });
    connection.send({ type: 'call', call: { ...find('bug'), mode: 'ask' } });
    expect((await connection.next('result')).result).toMatchObject({ status: 'success' });
    child.kill('SIGUSR2');
    const changed = await connection.next('offers');
    expect(changed.set?.offers[0]).toMatchObject({ effect: 'execute', idempotent: false });
  });

  test.for([
    { name: 'is not repeated after a crash', rules: undefined, calls: 1 },
    { name: 'is repeated after a crash where the owner believes it', rules: TRUSTED, calls: 2 },
  ])('$name', async ({ rules, calls }) => {
    if (rules) await writeFile(join(stateDir, 'policy.json'), JSON.stringify(rules));
    const child = startBridge();
    const connection = await tunnel.welcomed();
    const call = find('wait');
    connection.send({ type: 'call', call });
    if (!rules) await approve(connection, call, await connection.next('approval_request'));
    await vi.waitUntil(async () => (await called()) === 'wait\n');
    child.kill('SIGKILL');
    await connection.closed;
    startBridge();
    const again = await tunnel.connection();
    await again.welcome({ calls: [call] });
    if (!rules) {
      const { result } = await again.next('result');
      expect(result).toMatchObject({ status: 'error', code: 'UNKNOWN_OUTCOME' });
    }
    await vi.waitUntil(async () => (await called()) === 'wait\n'.repeat(calls), {
      timeout: 10_000,
    });
  });
});

function find(word: string): ToolCall {
  return { ...newCall('mcp_tickets_find', { word }), definition: DEFINITION };
}

type Asked = Extract<BridgeFrame, { type: 'approval_request' }>;

async function approve(
  connection: TunnelConnection,
  { conversationId }: ToolCall,
  { callId, nonce, proposal }: Asked,
): Promise<void> {
  const question = { bridgeId: BRIDGE_ID, callId, nonce, conversationId, proposal };
  connection.send({ type: 'approval', answer: await device.approve(question) });
}

async function called(): Promise<string> {
  return await place.text('called.txt').catch(() => '');
}

function startBridge(): ChildProcess {
  const config = { url: tunnel.url, bridgeId: BRIDGE_ID, workspaceDir: place.root, stateDir };
  return spawnBridge(config, { script: 'offering-bridge.ts' });
}
