import { expect, it } from 'vitest';
import { askAtBridge, readResponse } from './conversing.ts';
import { runCommand } from './held-model.ts';

const ITEMS = [
  { name: 'new/.git', quarantined: true, what: ['core.fsmonitor = touch x'] },
  { name: '.envrc', quarantined: false, what: ['a shell may start programs by it'] },
  { name: 'b/.git', quarantined: false, what: [], failure: 'it could not be moved (EPERM)' },
];

/** A response with one command, of which the bridge reports this. */
async function runOne(newlyProtected: unknown) {
  const { model, bridge, reader, responseId } = await askAtBridge();
  (await model.next()).answer({ calls: [runCommand('ls')] });
  const ran = { exitCode: 0, output: '', duration_ms: 3, permissions: [] };
  bridge.succeed((await bridge.nextCall()).callId, 'ok', {
    ...ran,
    ...(newlyProtected !== undefined && { newlyProtected }),
  });
  (await model.next()).answer({ text: 'Done.' });
  const events = (await reader.toEnd()).map(({ event }) => event);
  const response = await readResponse(responseId);
  return { events, response };
}

it('what a command left behind is an event right after its document, and stays in the document', async () => {
  const { events, response } = await runOne(ITEMS);
  const index = events.findIndex(({ type }) => type === 'attention');
  expect(events[index]).toEqual({ type: 'attention', documentId: 'doc_001', items: ITEMS });
  expect(events[index - 1]).toMatchObject({ type: 'document_end', documentId: 'doc_001' });
  expect(response.documents[0]).toMatchObject({
    type: 'terminal_command',
    metadata: { newlyProtected: ITEMS },
  });
});

it('it costs no row', async () => {
  const quiet = await runOne(undefined);
  const loud = await runOne(ITEMS);
  expect(loud.response.metadata.rows).toBe(quiet.response.metadata.rows);
});

it.each([[undefined], [[]]])('nothing is sent where the bridge reports %j', async (sent) => {
  const { events } = await runOne(sent);
  expect(events.filter(({ type }) => type === 'attention')).toEqual([]);
});
