import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { Distrust } from '../../../../../bridge/admission/distrust.ts';
import type { ScriptedCompanion, Step } from '../../../../../test/far-ends/scripted-companion.ts';
import { temporaryFolder } from '../../../../../test/local/temporary-folder.ts';
import { identityOf } from '../../../ide/link/confirmed.ts';
import { connectFirst } from '../../../ide/link/finding.ts';
import { LINK_LIMITS } from '../../../ide/link/limits.ts';
import { type Linked, linkTo as link, logLines, start, until } from './linked.ts';

let log: string[];
beforeEach(() => {
  log = logLines();
});

const files = (...paths: string[]) =>
  paths.map((path, index) => ({ path, timestamp: 100 - index, isActive: index === 0 }));
const contextOf = (...paths: string[]) => ({ workspaceState: { openFiles: files(...paths) } });
const names = ({ link }: Linked) => link.view?.openFiles.map(({ path }) => path);

/** A companion that shows a file, and a link that sees it. */
async function linkedTo(options?: Parameters<typeof link>[1]) {
  const companion = await start({ firstContext: contextOf('/w/a.ts') });
  const linked = link([companion.candidate], options);
  await until(() => linked.link.view);
  return { companion, linked };
}

describe('a connection', () => {
  test('follows what the editor shows, with the token in every request and the accepted Host', async () => {
    const { companion, linked } = await linkedTo();
    expect(linked.link.view?.name).toBe('gemini-cli-companion-mcp-server');
    expect(names(linked)).toEqual(['/w/a.ts']);
    await companion.notify('ide/contextUpdate', contextOf('/w/b.ts', '/w/a.ts'));
    await until(() => names(linked)?.length === 2);
    const { port, token } = companion.candidate;
    expect(companion.requests.length).toBeGreaterThanOrEqual(4);
    for (const { headers } of companion.requests) {
      expect(headers.authorization).toBe(`Bearer ${token}`);
      expect(headers.host).toBe(`127.0.0.1:${port}`);
    }
    expect(companion.sessions()).toBe(1);
  });

  test('sends that Host through another name of the machine too', async () => {
    const companion = await start();
    const connected = await connectFirst(
      { ranked: [companion.candidate], hosts: ['127.0.0.2', 'localhost'] },
      { limits: LINK_LIMITS, onNews: () => {}, signal: new AbortController().signal },
    );
    expect(connected?.canDiff).toBe(true);
    connected?.end('over');
    expect(companion.requests.at(-1)?.headers.host).toBe(`127.0.0.1:${companion.candidate.port}`);
  });

  test('takes no context yet for no knowledge, and not for no files', async () => {
    const companion = await start();
    const linked = link([companion.candidate]);
    await until(() => companion.streams() === 1 && log.length > 0);
    expect(linked.link.view).toBeUndefined();
    expect(linked.distrust.isKept).toBe(false);
    await companion.notify('ide/contextUpdate', { workspaceState: { openFiles: [] } });
    await until(() => linked.link.view);
    expect(names(linked)).toEqual([]);
  });

  test('says what it is connected to, and how to confirm it', async () => {
    const { candidate } = await start();
    link([{ ...candidate, ide: { name: 'zed', displayName: 'Zed' } }], { isConfirmed: false });
    await until(() => log.length > 0);
    expect(log).toEqual([
      `Connected to the editor Zed (port ${candidate.port}). Your answers there count after: ` +
        `\`drawbridge ide confirm --port ${candidate.port}\``,
    ]);
  });

  test('to a companion without both tools is for the context only', async () => {
    const companion = await start({ tools: ['openDiff'], firstContext: contextOf('/w/a.ts') });
    const linked = link([companion.candidate]);
    await until(() => linked.link.view);
    expect(log.join()).toContain('cannot show edits');
  });

  test('answers a ping, and passes over one that asks for no answer', async () => {
    const { companion } = await linkedTo();
    await companion.notify('ping');
    await companion.askPing();
    expect(companion.sessions()).toBe(1);
  });

  test.each<[what: string, method: string, params: unknown]>([
    [
      'a path that is no text',
      'ide/contextUpdate',
      { workspaceState: { openFiles: [{ path: 7 }] } },
    ],
    ['a list that is none', 'ide/contextUpdate', { workspaceState: { openFiles: 'all' } }],
    ['no content', 'ide/diffAccepted', { filePath: '/w/a.ts' }],
    ['nothing at all', 'ide/diffRejected', undefined],
  ])('outlives news with %s, and logs it once', async (_, method, params) => {
    const { companion, linked } = await linkedTo();
    await companion.notify(method, params);
    await companion.notify(method, params);
    await companion.notify('ide/contextUpdate', contextOf('/w/b.ts'));
    await until(() => names(linked)?.[0] === '/w/b.ts');
    expect(companion.sessions()).toBe(1);
    expect(log.filter((line) => line.includes(`left out: ${method}`))).toHaveLength(1);
  });

  test('reads null as absent', async () => {
    const { companion, linked } = await linkedTo();
    const openFiles = [{ path: '/w/b.ts', timestamp: 1, isActive: null, selectedText: null }];
    await companion.notify('ide/contextUpdate', { workspaceState: { openFiles, isTrusted: null } });
    await until(() => names(linked)?.[0] === '/w/b.ts');
    expect(linked.distrust.isKept).toBe(false);
  });
});

describe('an editor’s word that the person does not trust the workspace', () => {
  const saying = (isTrusted: boolean) => ({ workspaceState: { isTrusted } });

  test('outlives the editor and the bridge, and a damage of its file', async () => {
    const stateDir = temporaryFolder();
    const companion = await start({ firstContext: saying(false) });
    const linked = link([companion.candidate], {
      isConfirmed: false,
      distrust: new Distrust(stateDir),
    });
    await until(() => linked.distrust.isKept);
    await companion.notify('ide/contextUpdate', contextOf('/w/a.ts'));
    await until(() => linked.link.view);
    linked.candidates = [];
    await companion.close();
    await until(() => log.some((line) => line.startsWith('Lost the editor')));
    expect(linked.link.view).toBeUndefined();
    await linked.link.end();
    expect(new Distrust(stateDir).isKept).toBe(true);
    writeFileSync(join(stateDir, 'editor-distrust.json'), '');
    expect(new Distrust(stateDir).isKept).toBe(true);
  });

  test('is taken back by a confirmed editor, and by no other', async () => {
    const companion = await start({ firstContext: saying(false) });
    const linked = link([companion.candidate], { isConfirmed: false });
    await until(() => linked.distrust.isKept);
    await companion.notify('ide/contextUpdate', saying(true));
    await companion.notify('ide/contextUpdate', contextOf('/w/a.ts'));
    await until(() => linked.link.view);
    expect(linked.distrust.isKept).toBe(true);
    linked.confirmed.add(identityOf(companion.candidate) ?? '');
    await companion.notify('ide/contextUpdate', contextOf('/w/b.ts'));
    await until(() => !linked.distrust.isKept);
  });

  test('is taken back by the person’s command, until it is said again', async () => {
    const stateDir = temporaryFolder();
    const companion = await start({ firstContext: saying(false) });
    const linked = link([companion.candidate], { distrust: new Distrust(stateDir) });
    await until(() => linked.distrust.isKept);
    new Distrust(stateDir).lift();
    expect(linked.distrust.isKept).toBe(false);
    await companion.notify('ide/contextUpdate', saying(false));
    await until(() => linked.distrust.isKept);
  });

  test('counts where the disk does not take it', () => {
    const distrust = new Distrust(join(temporaryFolder(), 'missing'));
    distrust.keep();
    expect(distrust.isKept).toBe(true);
    distrust.lift();
    expect(distrust.isKept).toBe(false);
  });
});

describe('a companion that cannot be used makes room for the next', () => {
  test.each<Step>(['initialize', 'initialized', 'tools/list'])(
    'if it hangs at %s',
    async (step) => {
      const [bad, good] = [await start(), await start({ firstContext: contextOf('/w/a.ts') })];
      bad.hanging.add(step);
      const linked = link([bad.candidate, good.candidate], { connectMs: 200, listMs: 200 });
      await until(() => linked.link.view);
      expect(bad.requests.length).toBeGreaterThan(0);
    },
  );

  test.each<[Step, number]>([
    ['initialize', 400],
    ['initialize', 404],
    ['initialize', 500],
    ['initialized', 404],
    ['tools/list', 400],
    ['tools/list', 413],
    ['stream', 409],
    ['stream', 405],
  ])('if it answers %s with %i', async (step, status) => {
    const [bad, good] = [await start(), await start({ firstContext: contextOf('/w/a.ts') })];
    bad.statuses.set(step, status);
    const linked = link([bad.candidate, good.candidate]);
    await until(() => linked.link.view);
  });

  test('if it drops its stream each time', async () => {
    const [bad, good] = [await start(), await start({ firstContext: contextOf('/w/a.ts') })];
    const linked = link([bad.candidate, good.candidate]);
    const dropping = setInterval(() => bad.dropStreams(), 5);
    await until(() => linked.link.view);
    clearInterval(dropping);
  });

  test('and what it said of the editor does not count', async () => {
    const untrusted = { ...contextOf('/w/a.ts').workspaceState, isTrusted: false };
    const bad = await start({ firstContext: { workspaceState: untrusted } });
    const good = await start();
    bad.hanging.add('tools/list');
    const linked = link([bad.candidate, good.candidate], { listMs: 300 });
    await until(() => log.some((line) => line.includes(`port ${good.candidate.port}`)));
    expect(bad.streams()).toBe(0);
    expect(linked.link.view).toBeUndefined();
    expect(linked.distrust.isKept).toBe(false);
  });

  test('if the token is wrong', async () => {
    const [bad, good] = [await start(), await start({ firstContext: contextOf('/w/a.ts') })];
    const linked = link([{ ...bad.candidate, token: 'stale' }, good.candidate]);
    await until(() => linked.link.view);
    expect(bad.sessions()).toBe(0);
  });

  test('if nothing listens there any more', async () => {
    const [bad, good] = [await start(), await start({ firstContext: contextOf('/w/a.ts') })];
    await bad.close();
    const linked = link([bad.candidate, good.candidate]);
    await until(() => linked.link.view);
  });
});

describe('a lost connection', () => {
  test('is made anew at the new port after the editor’s restart', async () => {
    const first = await start({ firstContext: contextOf('/w/a.ts') });
    const linked = link([first.candidate]);
    await until(() => linked.link.view);
    await first.close();
    const second = await start({ firstContext: contextOf('/w/b.ts') });
    linked.candidates = [first.candidate, second.candidate];
    await until(() => names(linked)?.[0] === '/w/b.ts');
    expect(log.filter((line) => line.startsWith('Lost'))).toHaveLength(1);
  });

  test.each<[how: string, lose: (companion: ScriptedCompanion) => unknown]>([
    ['dropped', (companion) => companion.dropStreams()],
    ['ended with all sessions', (companion) => companion.forget()],
  ])('is made anew when its stream was %s', async (_, lose) => {
    const { companion, linked } = await linkedTo();
    lose(companion);
    await until(() => companion.sessions() >= 2 && linked.link.view);
  });

  test('is noticed in silence', async () => {
    const { companion } = await linkedTo({ quietMs: 50, probeMs: 50 });
    const asked = companion.requests.length;
    await until(() => companion.requests.length > asked + 2);
    companion.hanging.add('tools/list');
    await until(() => log.some((line) => line.includes('it does not answer')));
  });

  test('ends a companion that sends without an end', async () => {
    const { companion } = await linkedTo({ maxMessageBytes: 100_000 });
    await companion.notify('ide/contextUpdate', {
      workspaceState: {},
      more: 'x'.repeat(1_000_000),
    });
    await until(() => companion.sessions() >= 2);
  });
});

test('a link ends while it looks, while it connects, and while it is connected', async () => {
  const [hanging, good] = [await start(), await start({ firstContext: contextOf('/w/a.ts') })];
  hanging.hanging.add('initialize');
  await link([]).link.end();
  const connecting = link([hanging.candidate]);
  await until(() => hanging.requests.length > 0);
  await connecting.link.end();
  const connected = link([good.candidate]);
  await until(() => connected.link.view);
  await connected.link.end();
  await until(() => good.streams() === 0);
});
