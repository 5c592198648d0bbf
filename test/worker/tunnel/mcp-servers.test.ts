import { expect, it, vi } from 'vitest';
import type { BridgeDetails } from '../../../shared/api/listings.ts';
import type { McpServerReport } from '../../../shared/wire/mcp-servers.ts';
import { introductionOf } from '../../../shared/wire/offer.ts';
import { fakeOffer, fakeSet } from '../../far-ends/fake-offer.ts';
import { call } from '../api.ts';
import { connectOffering, type ScriptedBridge, sendSet } from './scripted-bridge.ts';

const EMPTY = { toolCount: 0, resources: [], resourceCount: 0, prompts: [], promptCount: 0 };
const SERVERS: readonly McpServerReport[] = [
  { ...EMPTY, name: 'tickets', state: 'ready', toolCount: 2 },
  { ...EMPTY, name: 'mail', state: 'down', reason: 'it demands a login', why: 'login' },
  { ...EMPTY, name: 'old', state: 'down', reason: 'it ended' },
];

async function serversOf({ bridgeId }: ScriptedBridge): Promise<BridgeDetails['mcpServers']> {
  const details: BridgeDetails = await (await call(`bridges/${bridgeId}`)).json();
  return details.mcpServers;
}

it('shows each server with the tools that the agent has of it, as the server describes them', async () => {
  const description = '<b>\u202eFinds</b> \u001b[31mall.';
  const offers = [
    fakeOffer({ description: `${introductionOf('tickets')}${description}` }),
    fakeOffer({ name: 'mcp_mail_send', origin: { server: 'mail', tool: 'send' } }),
  ];
  const bridge = await connectOffering(fakeSet(offers));
  bridge.send({ type: 'mcp_servers', servers: SERVERS });
  const [find, send] = [
    { name: 'find', description },
    { name: 'send', description: 'Finds tickets by a word.' },
  ];
  const [tickets, mail, old] = SERVERS;
  await vi.waitFor(async () =>
    expect(await serversOf(bridge)).toEqual([
      { ...tickets, tools: [find] },
      { ...mail, tools: [send] },
      { ...old, tools: [] },
    ]),
  );
  await sendSet(bridge, null);
  expect((await serversOf(bridge)).flatMap(({ tools }) => tools)).toEqual([]);
});
