import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runBridge } from '../../bridge/run.ts';
import type { Net } from '../../bridge/web/page.ts';
import { mintToken } from '../../local/state/tokens.ts';
import { newBridgeId } from '../../shared/ids.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { sendAllowing } from './allowing.ts';
import { oneHouse } from './one-house.ts';

/** A page and a SearXNG, which the bridge must and must not reach. */
const asked: IncomingMessage[] = [];
const far = createServer((request, response) => {
  asked.push(request);
  if (request.url?.startsWith('/search?')) {
    const result = { title: 'Docs', url: 'https://docs.test/', content: 'The <b>docs</b>.' };
    response.end(JSON.stringify({ results: [result] }));
  } else response.setHeader('content-type', 'text/html').end('<h1>Docs</h1>');
});
const settings = mkdtempSync(join(tmpdir(), 'drawbridge-web-'));
beforeAll(async () => {
  await new Promise<void>((resolve) => far.listen(0, '127.0.0.1', resolve));
  const folder = join(settings, 'drawbridge');
  mkdirSync(folder);
  const webSearch = { shape: 'searxng', url: farUrl('/') };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ webSearch }));
});
afterAll(() => {
  far.closeAllConnections();
  far.close();
  rmSync(settings, { recursive: true });
});
const one = oneHouse({ variables: { XDG_CONFIG_HOME: settings } });

it('searches in ask mode with the service of config.json, and reads no page of this machine', async () => {
  one.answerWith([
    {
      calls: [
        { name: 'WebSearch', arguments: { query: 'the docs' } },
        { name: 'web_fetch', arguments: { url: farUrl('/') } },
      ],
    },
    { text: 'Found.' },
  ]);
  const { documents, metadata } = await one.house.client.chat({
    messages: [{ role: 'user', content: 'search' }],
    mode: 'ask',
    tools: { web_search: { enabled: true }, web_fetch: {} },
  });
  expect(metadata).not.toHaveProperty('unavailableTools');
  expect(documents.slice(0, 2).map((document) => document.metadata['result'])).toMatchObject([
    {
      status: 'success',
      data: expect.stringContaining('1. Docs\n   https://docs.test/\n   The docs.'),
    },
    { status: 'error', data: expect.stringContaining('no address of the public web') },
  ]);
  expect(asked.map(({ url }) => url)).toEqual(['/search?q=the+docs&format=json']);
});

it('reads pages of a site that a person has allowed once for the conversation', async () => {
  const { house } = one;
  const bridgeId = newBridgeId(crypto.randomUUID());
  const [workspaceDir, stateDir] = [temporaryFolder(), temporaryFolder()];
  const devices = readFileSync(join(house.state, 'devices.json'), 'utf8');
  writeFileSync(join(stateDir, 'devices.json'), devices, { mode: 0o600 });
  const secret = readFileSync(join(house.state, 'auth-secret'), 'utf8').trim();
  const ending = new AbortController();
  const connected = Promise.withResolvers<void>();
  const running = runBridge(
    {
      url: house.ready.url,
      bridgeId,
      workspaceDir,
      stateDir,
      net: NET,
      environment: {},
      token: await mintToken(secret, { scope: 'bridge', bridgeId }, new Date()),
      asksAtTerminal: false,
      onStatus: ({ event }) => event === 'connected' && connected.resolve(),
    },
    ending.signal,
  );
  await connected.promise;
  const page = (path: string) => ({ name: 'web_fetch', arguments: { url: pageUrl(path) } });
  one.answerWith([{ calls: [page('/a')] }, { calls: [page('/b')] }, { text: 'Read.' }]);
  const { response, asked: questions } = await sendAllowing(house, 'read', { bridgeId });
  expect(questions.map(({ proposal }) => proposal)).toEqual([
    {
      kind: 'call',
      tool: 'web_fetch',
      arguments: { url: pageUrl('/a'), site: new URL(pageUrl('/')).host },
    },
  ]);
  const results = response.documents.slice(0, 2).map(({ metadata }) => metadata['result']);
  const read = { status: 'success', data: expect.stringContaining('<web_page>\n# Docs\n') };
  expect(results).toMatchObject([read, read]);
  ending.abort();
  await running;
});

function farUrl(path: string): string {
  return `http://127.0.0.1:${(far.address() as AddressInfo).port}${path}`;
}

function pageUrl(path: string): string {
  return farUrl(path).replace('127.0.0.1', 'docs.test');
}

const NET: Net = {
  lookup: (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  isPublic: () => true,
  isWebPort: () => true,
};
