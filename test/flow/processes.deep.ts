import { expect, it } from 'vitest';
import { callDrawbridge } from '../cli/called.ts';
import type { ScriptedAnswer } from '../far-ends/scripted-model.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse();

it('leaves a command running that people list and stop, and the agent learns of it', async () => {
  const { house } = at;
  const bridgeId = house.ready.bridgeId ?? '';
  const START = { command: 'echo up; sleep 600', is_background: true };
  const answers: ScriptedAnswer[] = [
    { calls: [{ name: 'run_terminal_cmd', arguments: START }] },
    { text: 'It runs.' },
  ];
  at.answerWith(answers);
  const { conversationId, documents } = await house.client.chat({
    messages: [{ role: 'user', content: 'Start it' }],
  });
  const id = String(
    documents.find(({ type }) => type === 'terminal_command')?.metadata['process_id'],
  );
  const { items } = await house.client.listProcesses(bridgeId);
  expect(items).toMatchObject([
    { id, conversationId, command: START.command, folder: '.', running: true },
  ]);
  const here = ['--workspace', house.workspace, '--state', house.state];
  const { stdout: status } = await callDrawbridge(['status', ...here]);
  expect(status).toMatch(new RegExp(`\n    ${id}  started \\S+  runs  echo up; sleep 600\n`));
  const opening = await callDrawbridge(['processes', 'open', id, '3000', ...here]);
  const { confinement } = await house.client.getBridge(bridgeId);
  if (confinement.kind === 'bubblewrap') {
    const listed = await callDrawbridge(['processes', ...here]);
    expect(listed.stdout).toContain(`\tport 3000 at ${opening.stdout.trim()}\t`);
    const closed = await callDrawbridge(['processes', 'close', id, '3000', ...here]);
    expect(closed.stderr).toBe(`Closed the port 3000 of ${id}.\n`);
    const after = await callDrawbridge(['processes', ...here]);
    expect(after.stdout).not.toContain('port 3000');
  } else {
    expect(opening).toMatchObject({ code: 1, stderr: expect.stringContaining('no sandbox') });
  }
  const stopped = await callDrawbridge(['processes', 'stop', id, ...here]);
  expect(stopped).toEqual({ code: 0, stdout: '', stderr: `Stopped the process ${id}.\n` });
  expect((await callDrawbridge(['processes', ...here])).stdout).toContain(
    '\tThe person stopped it.\t\techo up',
  );
  const missing = await callDrawbridge(['processes', 'stop', 'proc_none', ...here]);
  expect(missing).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no process proc_none'),
  });

  at.answerWith([
    { calls: [{ name: 'read_process', arguments: { process_id: id } }] },
    { text: 'It was stopped.' },
  ]);
  const next = await house.client.chat({
    conversationId,
    messages: [{ role: 'user', content: 'Does it run?' }],
  });
  expect(next.documents[0]?.metadata['result']).toMatchObject({
    data: expect.stringContaining('The person stopped it.'),
  });
});
