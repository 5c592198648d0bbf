import { expect, it } from 'vitest';
import { plain } from '../../../cli/terminal/paint.ts';
import { Footer } from '../../../cli/tui/status/footer.ts';
import { ProcessCount } from '../../../cli/tui/status/processes.ts';
import { StatusSurroundings } from '../../../cli/tui/status/surroundings.ts';
import { newDeferred } from '../../../machine/deferred.ts';
import type { BridgeDetails } from '../../../shared/api/listings.ts';
import { BRIDGE_ID, CONVERSATION_ID } from '../../client/sample-tape.ts';
import { openWriter } from './open-writer.ts';

const PROCESS = {
  ...{ id: 'proc_1', conversationId: CONVERSATION_ID, command: 'npm run dev', folder: '.' },
  ...{ running: true, started: '2026-11-20T12:00:00Z' },
};

it('counts on the last line what runs in the background', async () => {
  const { api, session } = await openWriter({ bridgeId: BRIDGE_ID, mode: 'agent' });
  const changed = newDeferred<void>();
  const processes = new ProcessCount(() => session, changed.resolve);
  const footer = new Footer({
    ...{ session: () => session, around: new StatusSurroundings(), processes, paint: plain },
  });
  expect(footer.render(80)).toEqual(['agent · demo']);
  const items = [PROCESS, { ...PROCESS, id: 'proc_2', running: false, end: 'exit code 0' }];
  api.answers.set(`GET bridges/${BRIDGE_ID}/processes`, { items });
  processes.look(0);
  await changed.promise;
  expect(footer.render(80)).toEqual(['agent · /processes: 1 · demo']);
  processes.end();
});

it('says on a narrow screen too that there is no sandbox', async () => {
  const { session } = await openWriter({ mode: 'agent', model: 'a-model' });
  const around = new StatusSurroundings();
  around.bridge = { workspacePath: '/work/shop', confinement: { kind: 'none' } } as BridgeDetails;
  const footer = new Footer({
    ...{ session: () => session, around, processes: { running: 0 }, paint: plain },
  });
  expect(footer.render(30)[0]).toMatch(/^agent · a-model · no sandbox/);
});
