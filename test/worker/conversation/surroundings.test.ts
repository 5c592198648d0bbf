import { evictDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { chat } from '../api.ts';
import { configure } from '../settings.ts';
import { connectLookingBridge, contextOf } from '../tunnel/scripted-bridge.ts';
import { askStreamed, conversationObject } from './conversing.ts';
import { holdModel, readFile } from './held-model.ts';
import { answerCalls, conversation, expectPrefixes, query, windowsOf } from './sent.ts';

it('what the model learns of the machine is all of it once, then what has changed, and nothing where nothing has', async () => {
  const { sent, bridge, say } = await conversation();
  await say('one');
  await say('two');
  bridge.sees = contextOf('a.ts\nnew.ts', '## feature\n?? new.ts\n');
  await say('three');
  await say('four');
  expect(sent()).toEqual([
    [
      `<user_info>\nDate: ${today()}\nOperating system: TestOS\nShell: sh\nWorkspace: /work\n</user_info>`,
      '<project_layout>\na.ts\n</project_layout>',
      '<git_status>\n## main\n\n</git_status>',
      query('one'),
    ].join('\n\n'),
    query('two'),
    [
      '<project_layout_changes>\n+ new.ts\n</project_layout_changes>',
      '<git_status>\n## feature\n?? new.ts\n\n</git_status>',
      query('three'),
    ].join('\n\n'),
    query('four'),
  ]);
});

it('what the model learns of the machine never changes afterwards: each request goes on where the one before ended', async () => {
  const { requests, bridge, say, conversationId } = await conversation((number) =>
    number % 2 === 0 ? { calls: [readFile('a.ts')] } : { text: `Done ${number}.` },
  );
  for (let message = 1; message <= 6; message++) {
    if (message % 2 === 0) bridge.sees = contextOf(`a.ts\nb-${message}.ts\nlong-name-of-a-file.ts`);
    // What is held in memory is made anew from rows.
    if (message === 4) await evictDurableObject(conversationObject(conversationId()));
    await Promise.all([say(`message ${message}`), answerCalls(bridge, 1)]);
  }
  expect(requests).toHaveLength(12);
  expectPrefixes(requests);
});

it('what the model learns of the machine is what was known where the bridge is late, whose answer is sent next', async () => {
  const { sent, bridge, say } = await conversation();
  await say('one');
  bridge.sees = null;
  await say('two');
  const { lookId } = await bridge.next('look');
  bridge.send({ type: 'context', lookId, context: contextOf('a.ts\nnew.ts') });
  bridge.sees = contextOf('a.ts\nnew.ts');
  await say('three');
  expect(sent().slice(1)).toEqual([
    query('two'),
    `<project_layout_changes>\n+ new.ts\n</project_layout_changes>\n\n${query('three')}`,
  ]);
});

it('what the model learns of the machine is what was known where the bridge is offline', async () => {
  const { sent, bridge, say } = await conversation();
  await say('one');
  await bridge.leave();
  await say('two');
  expect(sent()[1]).toBe(query('two'));
});

it('what the model learns of the machine is looked at when a message that waited gets its turn', async () => {
  const model = holdModel();
  const bridge = await connectLookingBridge();
  const first = await askStreamed({ bridgeId: bridge.bridgeId });
  const held = await model.next();
  const second = await askStreamed({ conversationId: first.conversationId });
  bridge.sees = contextOf('a.ts\nnew.ts');
  held.answer({ text: 'One.' });
  const next = await model.next();
  expect(String(next.request.messages.at(-1)?.content)).toContain('+ new.ts');
  next.answer({ text: 'Two.' });
  await Promise.all([first.reader.toEnd(), second.reader.toEnd()]);
});

it('what the model learns of the machine is the same in a fork, which goes on from there', async () => {
  const { requests, bridge, say } = await conversation();
  await say('one');
  bridge.sees = contextOf('a.ts\nnew.ts');
  const { id } = await say('two');
  bridge.sees = contextOf('a.ts\nnew.ts\nnewer.ts');
  await chat('edited', { editOf: id });
  const [first, second, forked] = requests.map(({ messages }) => messages);
  expect(forked?.slice(0, -1)).toEqual(second?.slice(0, -1));
  expect(forked?.slice(0, first?.length)).toEqual(first);
  expect(forked?.at(-1)?.content).toBe(
    `<project_layout_changes>\n+ new.ts\n+ newer.ts\n</project_layout_changes>\n\n${query('edited')}`,
  );
});

it('what the model learns of the machine is all of it again behind a summary, and stays as it is from there', async () => {
  configure({ MODELS: [{ id: 'small', contextWindow: 10_000 }] });
  const long = 'word '.repeat(1_000);
  const { requests, say } = await conversation(() => ({ text: long }));
  for (let message = 1; message <= 12; message++) {
    await say(`message ${message}`, { model: 'small' });
  }
  for (const sent of windowsOf(requests)) {
    expectPrefixes(sent);
    const words = JSON.stringify(sent.at(-1)?.messages.slice(1));
    expect(words.match(/<project_layout>/g)).toHaveLength(1);
  }
});

it('what the model learns of the machine is what the editor shows, sent anew only where it has changed', async () => {
  const { sent, say } = await conversation();
  const file = { path: 'a.ts', content: 'let a = 1 < 2;' };
  await say('one', { context: { openFiles: [file], cursor: { path: 'a.ts', line: 1 } } });
  await say('two', { context: { openFiles: [file], cursor: { path: 'a.ts', line: 2 } } });
  await say('three');
  expect(sent()[0]).toContain('<open_file>\na.ts\nlet a = 1 &lt; 2;\n</open_file>');
  expect(sent().slice(1)).toEqual([
    `<open_and_recently_viewed_files>\nCursor: a.ts:2\nOpen: a.ts\n</open_and_recently_viewed_files>\n\n${query('two')}`,
    query('three'),
  ]);
});

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
