import { expect, it } from 'vitest';
import { listModels } from '../../../packages/model/models.ts';
import { BridgeList, Me, ModelList, ToolList } from '../../../shared/api/listings.ts';
import { TOOLS } from '../../../shared/tools/catalogue.ts';
import { call } from '../api.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';

it('says who the caller is', async () => {
  const me = Me.parse(await (await call('me', { account: 'grace' })).json());
  expect(me).toMatchObject({ account: 'grace', scope: 'user' });
  expect(Date.parse(me.expires)).toBeGreaterThan(Date.now() + 59 * 60_000);
});

it.each([
  [
    'the demo model alone',
    {},
    {
      items: [{ id: 'demo', isDefault: true, takesImages: false, isPrivate: true }],
      passesThrough: false,
    },
  ],
  [
    'the default of an upstream that takes any name',
    { OPENAI_BASE_URL: 'http://model.test/v1', OPENAI_MODEL: 'big' },
    { items: [{ id: 'big', isDefault: true, takesImages: true }], passesThrough: true },
  ],
  ['no default', { OPENAI_API_KEY: 'sk' }, { items: [], passesThrough: true }],
])('lists %s', (_, env, list) => {
  expect(listModels(env)).toEqual(ModelList.parse(list));
});

it('serves the models it is configured with', async () => {
  expect(await (await call('models')).json()).toEqual({
    items: [{ id: 'scripted', isDefault: true, takesImages: true, isPrivate: true }],
    passesThrough: true,
  });
});

it('lists every tool with the schema of its arguments', async () => {
  const body = await (await call('tools')).json();
  const { items } = ToolList.parse(body);
  expect(body).toEqual({ items });
  expect(items.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
  expect(items.find(({ name }) => name === 'write')).toMatchObject({
    aliases: ['Write', 'write_file'],
    effect: 'write',
    parameters: { type: 'object', required: ['path', 'contents'] },
  });
});

it('lists the bridges of the account, the latest first, and no others', async () => {
  const account = `ada-${crypto.randomUUID()}`;
  expect(await bridgesOf(account)).toEqual([]);
  const first = await connectBridge({ account });
  await new Promise((resolve) => setTimeout(resolve, 2));
  const second = await connectBridge({ account, tools: ['read_file'] });
  await connectBridge({ account: `eve-${crypto.randomUUID()}` });
  const bridges = await bridgesOf(account);
  expect(bridges.map(({ id }) => id)).toEqual([second.bridgeId, first.bridgeId]);
  expect(bridges[0]).toMatchObject({ connected: true, tools: ['read_file'] });
});

async function bridgesOf(account: string): Promise<BridgeList['items']> {
  const body = await (await call('bridges', { account })).json();
  const { items } = BridgeList.parse(body);
  expect(body).toEqual({ items });
  return items;
}
