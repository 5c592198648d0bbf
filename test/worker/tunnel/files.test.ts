import { expect, it } from 'vitest';
import { TUNNEL_LIMITS } from '../../../shared/limits.ts';
import { call, errorOf } from '../api.ts';
import { quicken } from '../follow/watching.ts';
import { openBridge } from './scripted-bridge.ts';

const FOUND = [
  { path: 'src/a.ts', type: 'file' },
  { path: 'src/', type: 'folder' },
] as const;

/** A bridge of `ana`, which lets `ben` and the users of an app in. */
async function newBridge() {
  const id = crypto.randomUUID();
  const people = { ana: `ana-${id}`, ben: `ben-${id}`, eve: `eve-${id}` };
  const bridge = await openBridge({ account: people.ana });
  await bridge.greet({ grants: [people.ben] });
  bridge.files = FOUND;
  const find = (by: keyof typeof people, query = '?query=src') =>
    call(`bridges/${bridge.bridgeId}/files${query}`, { account: people[by] });
  return { bridge, people, find };
}

it('passes what the owner types to the bridge, and nothing of anyone else', async () => {
  const { bridge, people, find } = await newBridge();
  await expect
    .poll(async () => (await call('bridges', { account: people.ben })).text())
    .toContain(bridge.bridgeId);
  for (const other of ['ben', 'eve'] as const) {
    expect(await errorOf(await find(other))).toMatchObject({ code: 'NOT_FOUND' });
  }
  expect(bridge.searches).toEqual([]);
  expect(await (await find('ana')).json()).toEqual({ items: FOUND });
  await find('ana', '?query=%2F%22%C3%BC&limit=3');
  await find('ana', '');
  expect(bridge.searches).toEqual([
    { query: 'src', limit: 20 },
    { query: '/"ü', limit: 3 },
    { query: '', limit: 20 },
  ]);
});

it('says that a bridge cannot: it is offline, or could not list its files', async () => {
  const [offline, broken] = [await newBridge(), await newBridge()];
  await offline.bridge.leave();
  broken.bridge.files = null;
  for (const { find } of [offline, broken]) {
    const message = expect.stringContaining('offline, or could not list');
    expect(await errorOf(await find('ana'))).toMatchObject({ code: 'UNAVAILABLE', message });
  }
});

it.each([
  ['?limit=0', 'limit'],
  ['?limit=51', 'limit'],
  ['?limit=x', 'limit'],
  [`?query=${'x'.repeat(201)}`, 'query'],
])('refuses %s', async (query, field) => {
  const { bridge, find } = await newBridge();
  const refused = await errorOf(await find('ana', query));
  expect(refused).toMatchObject({ code: 'INVALID_REQUEST' });
  expect(refused.message).toContain(field);
  expect(bridge.searches).toEqual([]);
});

it('refuses a bridge that answers with more than a page, or with a path that is too long', async () => {
  quicken({ [TUNNEL_LIMITS.answerMs]: 20 });
  const many = Array.from({ length: 51 }, () => FOUND[0]);
  for (const files of [many, [{ path: 'x'.repeat(1_025), type: 'file' as const }]]) {
    const { bridge, find } = await newBridge();
    bridge.files = files;
    const found = find('ana');
    expect(await bridge.closed).toBe(4003);
    expect((await found).status).toBe(503);
  }
});
