import { hostname } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import { runChat } from '../../../cli/chat/run-chat.ts';
import { bridgeForNew } from '../../../cli/target/own-bridge.ts';
import { watchReplaced } from '../../../cli/target/replaced.ts';
import { createClient } from '../../../client/index.ts';
import { formatEvent } from '../../../shared/api/sse.ts';
import { newBridgeId, newSessionId } from '../../../shared/ids.ts';
import { HOUR } from '../../../shared/units.ts';
import { NEVER, startScriptedApi } from '../../client/scripted-api.ts';
import { createTestClock } from '../../client/test-clock.ts';
import { newChat } from '../chat/scripted-chat.ts';
import { scriptTerminal } from '../scripted-terminal.ts';

const HERE = newBridgeId(crypto.randomUUID());
const THERE = newBridgeId(crypto.randomUUID());
const SESSION = newSessionId(crypto.randomUUID());

const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR).toISOString();

const bridgeAt = (id: string, workspacePath: string, replaced?: string) => ({
  ...{ id, workspacePath, connected: true, lastConnected: hoursAgo(0), tools: [] },
  confinement: { kind: 'none', detail: '' },
  ...(replaced !== undefined && { replaced }),
});

/** A server whose account has these bridges, and the stream of the account. */
async function serverWith(...bridges: ReturnType<typeof bridgeAt>[]) {
  const api = await startScriptedApi([]);
  onTestFinished(async () => await api[Symbol.asyncDispose]());
  const list = (...items: typeof bridges) => api.answers.set('GET bridges', { items });
  list(...bridges);
  const at = hoursAgo(0);
  const record = { at, session: SESSION, action: 'bridge_replaced', subject: THERE };
  api.answers.set('GET records', { items: [record], nextCursor: null });
  const key = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' };
  const session = { id: SESSION, name: 'laptop', kind: 'machine', key, current: false };
  api.answers.set('GET sessions', { items: [{ ...session, created: at, lastUsed: at }] });
  let go = (_: string) => {};
  const rest = new Promise<string>((resolve) => {
    go = resolve;
  });
  api.fates.push({ type: 'text', text: RESET, rest }, { type: 'text', text: '', rest: NEVER });
  const connected = (...ids: string[]) => {
    const bridges = ids.map((id) => ({ id, connected: true, lastConnected: hoursAgo(0) }));
    const events = bridges.map((bridge) => ({ type: 'bridge', bridge }) as const);
    go(events.map((event, index) => formatEvent(event, index + 2, 'named')).join(''));
  };
  const client = createClient({ url: api.url, token: 'token' }, createTestClock());
  return { api, client, list, connected };
}

const RESET = formatEvent({ type: 'reset' }, 1, 'named');

const LINE = /^A second program with the key of (.*) took over the bridge of (.*) at (.*)\. If /;

function watch(chat: Parameters<typeof watchReplaced>[0]) {
  const ending = new AbortController();
  const lines: (readonly string[])[] = [];
  const say = (line: string) => void lines.push(LINE.exec(line)?.slice(1) ?? [line]);
  const watching = watchReplaced(chat, say, ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await watching;
  });
  return lines;
}

it('an open chat says once that a second program took over a bridge of any folder, and whose key it had', async () => {
  const { api, client, list, connected } = await serverWith(
    bridgeAt(HERE, '/here', hoursAgo(2)),
    bridgeAt(THERE, '/there'),
  );
  const lines = watch({ client, own: { bridgeId: HERE }, bridgeId: HERE });
  await expect.poll(() => api.requests.map(({ line }) => line)).toContain('GET bridges');
  const replaced = hoursAgo(0);
  list(bridgeAt(HERE, '/here', replaced), bridgeAt(THERE, '/there', replaced));
  connected(THERE, HERE, THERE);
  await expect.poll(() => lines.length).toBe(2);
  const looks = () => api.requests.filter(({ line }) => line === 'GET bridges').length;
  await expect.poll(looks).toBe(4);
  expect(lines).toEqual([
    [hostname(), '/here', replaced].map((part, at) => (at === 0 ? `the machine ${part}` : part)),
    ['the machine laptop', '/there', replaced],
  ]);
});

it.each([
  { how: 'a new one has said it', bridgeId: HERE, said: [] },
  { how: 'one that goes on says it', bridgeId: undefined, said: ['/here'] },
])('what happened within a day before the chat: $how', async ({ bridgeId, said }) => {
  const before = [bridgeAt(HERE, '/here', hoursAgo(2)), bridgeAt(THERE, '/there', hoursAgo(30))];
  const { api, client, list, connected } = await serverWith(...before);
  const lines = watch({ client, bridgeId });
  await expect.poll(() => api.requests.map(({ line }) => line)).toContain('GET bridges');
  list(...before, bridgeAt(newBridgeId(crypto.randomUUID()), '/last', hoursAgo(0)));
  connected(HERE);
  await expect.poll(() => lines.at(-1)?.[1]).toBe('/last');
  expect(lines.slice(0, -1).map(([, folder]) => folder)).toEqual(said);
});

it('a new chat says what happened within a day, and without the machine where no session says it', async () => {
  const { client, api } = await serverWith(
    bridgeAt(HERE, '/here'),
    bridgeAt(THERE, '/there', hoursAgo(1)),
  );
  api.answers.set('GET sessions', { items: [] });
  const lines: string[] = [];
  expect(await bridgeForNew(client, { bridgeId: HERE }, (line) => lines.push(line))).toBe(HERE);
  expect(lines.map((line) => LINE.exec(line)?.slice(1, 3))).toEqual([['its machine', '/there']]);
});

it('a server that refuses the token ends the watch, and the chat goes on', async () => {
  const { api } = await serverWith();
  const client = createClient({ url: api.url, token: 'other' }, createTestClock());
  const say = () => expect.unreachable();
  await watchReplaced({ client, bridgeId: HERE }, say, new AbortController().signal);
});

it('a chat line by line shows it above its prompt', async () => {
  const { api, client, list, connected } = await serverWith(bridgeAt(THERE, '/there'));
  const terminal = scriptTerminal();
  void runChat({ ...newChat(api, terminal), client, bridgeId: HERE }, []);
  await expect.poll(() => api.requests.map(({ line }) => line)).toContain('GET bridges');
  list(bridgeAt(THERE, '/there', hoursAgo(0)));
  connected(THERE);
  await expect.poll(terminal.screen).toContain('took over the bridge of /there');
});
