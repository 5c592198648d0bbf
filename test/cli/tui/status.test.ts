import { stripVTControlCharacters } from 'node:util';
import { visibleWidth } from '@earendil-works/pi-tui';
import { expect, it } from 'vitest';
import type { ChatSession } from '../../../cli/chat/session.ts';
import { plain } from '../../../cli/terminal/paint.ts';
import { ActivityLine } from '../../../cli/tui/status/activity.ts';
import { Footer } from '../../../cli/tui/status/footer.ts';
import { ProcessCount } from '../../../cli/tui/status/processes.ts';
import { StatusSurroundings } from '../../../cli/tui/status/surroundings.ts';
import type { ConversationView } from '../../../client/index.ts';
import { newDeferred } from '../../../machine/deferred.ts';
import type { BridgeDetails } from '../../../shared/api/listings.ts';
import { BRIDGE_ID, CONVERSATION_ID, RESPONSE_ID } from '../../client/sample-tape.ts';
import { openWriter } from './open-writer.ts';

const PROCESS = {
  id: 'proc_1',
  conversationId: CONVERSATION_ID,
  command: 'npm run dev',
  folder: '.',
  running: true,
  started: '2026-11-20T12:00:00Z',
};

it('counts on the last line what runs in the background', async () => {
  const { api, session } = await openWriter({ bridgeId: BRIDGE_ID, mode: 'agent' });
  const changed = newDeferred<void>();
  const processes = new ProcessCount(() => session, changed.resolve);
  const footer = new Footer({
    session: () => session,
    around: new StatusSurroundings(),
    processes,
    paint: plain,
  });
  expect(footer.render(80)).toEqual(['agent · demo · /help: commands and keys']);
  const items = [PROCESS, { ...PROCESS, id: 'proc_2', running: false, end: 'exit code 0' }];
  api.answers.set(`GET bridges/${BRIDGE_ID}/processes`, { items });
  processes.look(0);
  await changed.promise;
  expect(footer.render(80)).toEqual(['agent · /processes: 1 · demo · /help: commands and keys']);
  processes.end();
});

it('says on a narrow screen too that there is no sandbox', async () => {
  const { session } = await openWriter({ mode: 'agent', model: 'a-model' });
  const around = new StatusSurroundings();
  around.bridge = { workspacePath: '/work/shop', confinement: { kind: 'none' } } as BridgeDetails;
  const footer = new Footer({
    session: () => session,
    around,
    processes: { running: 0 },
    paint: plain,
  });
  expect(footer.render(30)[0]).toMatch(/^agent · a-model · no sandbox/);
});

it('says where the folder is, unless it is on this machine', async () => {
  const { session } = await openWriter({ mode: 'agent', model: 'a-model' });
  const around = new StatusSurroundings();
  const bridge = {
    id: BRIDGE_ID,
    workspacePath: '/work/shop',
    confinement: { kind: 'bubblewrap' },
  };
  around.bridge = bridge as BridgeDetails;
  const lineFor = (bridgeId: string) => {
    const own = { bridgeId, stateDir: '/state' };
    const here = { view: undefined, chat: { ...session.chat, own } } as unknown as ChatSession;
    return new Footer({
      session: () => here,
      around,
      processes: { running: 0 },
      paint: plain,
    }).render(120)[0];
  };
  expect(lineFor(BRIDGE_ID)).toContain('shop · sandbox');
  expect(lineFor('bridge_2')).toContain('shop · on another machine · sandbox');
});

const RUNNING = {
  id: RESPONSE_ID,
  conversationId: CONVERSATION_ID,
  status: 'streaming',
  model: 'demo',
  metadata: {},
  documents: [
    {
      id: 'doc_001',
      type: 'terminal_command',
      metadata: { command: `echo ${'long '.repeat(30)}` },
    },
  ],
};

it.each([20, 40, 80, 200])('says in %i columns how long what takes', async (columns) => {
  const { session } = await openWriter();
  const running = { ...RUNNING, created: new Date().toISOString() };
  session.view = { responses: [running], messages: [] } as unknown as ConversationView;
  const line = new ActivityLine(
    () => session,
    () => 'Esc',
    plain,
  );
  const [, shown = ''] = line.render(columns);
  expect(visibleWidth(shown)).toBeLessThanOrEqual(columns);
  const words = stripVTControlCharacters(shown);
  expect(words).toMatch(/^. Running .*… · 0/);
  if (columns >= 40) expect(words).toContain(' · 0 s (Esc stops');
});

it('says how a server of this machine starts again, once it does not come back', async () => {
  const { session } = await openWriter({ url: 'http://127.0.0.1:8787', targetWords: [] });
  const line = new ActivityLine(
    () => session,
    () => undefined,
    plain,
  );
  session.lostMs = Date.now();
  expect(line.render(200)).toHaveLength(2);
  session.lostMs -= 5_000;
  expect(line.render(200).slice(1)).toEqual([
    expect.stringContaining('Connection lost; trying again (5 s)'),
    expect.stringMatching(/^If the server has stopped, another terminal starts it: .* start$/),
  ]);
});
