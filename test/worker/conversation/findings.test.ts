import { evictDurableObject } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { FINDING_LIMITS } from '../../../shared/limits.ts';
import type { Findings } from '../../../shared/wire/findings.ts';
import { call, chat } from '../api.ts';
import { connectLookingBridge, contextOf, type ScriptedBridge } from '../tunnel/scripted-bridge.ts';
import {
  askStreamed,
  cancel,
  conversationObject,
  crash,
  readResponse,
  readView,
  untilCompleted,
} from './conversing.ts';
import { holdModel } from './held-model.ts';
import { conversation, query } from './sent.ts';

const NOTHING: Findings = { attachments: [], openFiles: [], changed: [], touched: [] };
const FILE = { type: 'file', name: 'src/a.ts', text: '1|let a;' } as const;
const FILE_TOLD = '<attached_file>\nsrc/a.ts\n1|let a;\n</attached_file>';
const searched = (words: string) => ({ query: words, mode: 'agent' });
const MENTION = { type: 'path', path: 'src/a.ts', isCertain: true };

it('what a message mentions is asked of the bridge, sent with that message, and never again', async () => {
  const { sent, say, bridge, conversationId } = await conversation();
  bridge.finds = { ...NOTHING, attachments: [FILE] };
  await say('see @src/a.ts');
  bridge.finds = NOTHING;
  await say('two');
  expect(bridge.asked).toEqual([
    { conversationId: conversationId(), mentions: [MENTION], search: searched('see @src/a.ts') },
    { conversationId: conversationId(), mentions: [], search: searched('two') },
  ]);
  expect(sent()[0]?.endsWith(`\n\n${FILE_TOLD}\n\n${query('see @src/a.ts')}`)).toBe(true);
  expect(sent()[1]).toBe(query('two'));
});

it('what a message hands over is asked of the bridge as it is, however its name would read', async () => {
  const { sent, say, bridge, conversationId } = await conversation();
  bridge.finds = { ...NOTHING, attachments: [FILE] };
  const lines = { from: 3, to: 9 };
  const parts = [
    { type: 'text', text: 'see' },
    { type: 'path', path: 'a "b".ts', lines },
    { type: 'url', url: 'https://a.test/x' },
    { type: 'text', text: 'and @src/a.ts' },
  ];
  await say(parts as unknown as string);
  expect(bridge.asked[0]?.mentions).toEqual([
    { type: 'path', path: 'a "b".ts', lines, isCertain: true },
    { type: 'url', url: 'https://a.test/x' },
    MENTION,
  ]);
  const words = 'see @"a \\"b\\".ts":3-9 @https://a.test/x and @src/a.ts';
  expect(sent()[0]?.endsWith(`\n\n${FILE_TOLD}\n\n${query(words)}`)).toBe(true);
  await evictDurableObject(conversationObject(conversationId()));
  await say('two');
  const { messages } = await readView(conversationId());
  expect(messages[0]?.content).toBe(words);
});

it('what a message mentions is what was found then, in a new instance and in a fork', async () => {
  const { requests, say, bridge, conversationId } = await conversation();
  bridge.finds = { ...NOTHING, attachments: [FILE] };
  await say('see @src/a.ts');
  bridge.finds = { ...NOTHING, attachments: [{ ...FILE, text: '1|other' }] };
  await evictDurableObject(conversationObject(conversationId()));
  const { id } = await say('two');
  const [first, second] = requests.map(({ messages }) => messages);
  expect(second?.slice(0, first?.length)).toEqual(first);
  await chat('edited', { editOf: id });
  expect(requests.at(-1)?.messages.slice(0, first?.length)).toEqual(first);
});

it('what a message mentions is said to be missing where the bridge does not answer in time', async () => {
  vi.spyOn(FINDING_LIMITS as { waitMs: number }, 'waitMs', 'get').mockReturnValue(50);
  const { sent, say, bridge } = await conversation();
  bridge.sees = null;
  await say('@src/a.ts and @ada');
  expect(sent()[0]).toMatch(/<not_attached>\nsrc\/a.ts\nIt could not be attached in time/);
  expect(sent()[0]?.match(/not_attached>/g)).toHaveLength(2);
});

it('what a message mentions is that of the message as it is when its run starts', async () => {
  const model = holdModel();
  const bridge = await looking();
  const first = await askStreamed({ bridgeId: bridge.bridgeId });
  const held = await model.next();
  const second = await askStreamed({ conversationId: first.conversationId });
  const path = `chat/completions/${second.responseId}`;
  await call(path, { method: 'PATCH', body: { content: 'see @src/a.ts' } });
  bridge.finds = { ...NOTHING, attachments: [FILE] };
  held.answer({ text: 'One.' });
  const next = await model.next();
  expect(String(next.request.messages.at(-1)?.content)).toContain(FILE_TOLD);
  next.answer({ text: 'Two.' });
  await Promise.all([first.reader.toEnd(), second.reader.toEnd()]);
});

it('what a message mentions is looked for again where the message changes during the look', async () => {
  const model = holdModel();
  const bridge = await looking();
  bridge.sees = null;
  const { responseId, reader } = await askStreamed({
    bridgeId: bridge.bridgeId,
    messages: [{ role: 'user', content: 'see @b.ts' }],
  });
  const early = await bridge.next('look');
  const path = `chat/completions/${responseId}`;
  await call(path, { method: 'PATCH', body: { content: 'see @src/a.ts' } });
  const attachments = [{ ...FILE, name: 'b.ts' }];
  const answer = { type: 'context', context: contextOf('a.ts') };
  bridge.send({ ...answer, lookId: early.lookId, findings: { ...NOTHING, attachments } });
  const { lookId, message } = await bridge.next('look');
  expect(message?.mentions).toEqual([MENTION]);
  bridge.send({ ...answer, lookId, findings: { ...NOTHING, attachments: [FILE] } });
  const next = await model.next();
  expect(String(next.request.messages.at(-1)?.content)).toContain(FILE_TOLD);
  next.answer({ text: 'Done.' });
  await reader.toEnd();
});

it('what a message mentions is looked for again after a crash during the look', async () => {
  const model = holdModel();
  const bridge = await looking();
  bridge.sees = null;
  const { responseId, conversationId } = await askStreamed({
    bridgeId: bridge.bridgeId,
    messages: [{ role: 'user', content: 'see @src/a.ts' }],
  });
  await bridge.next('look');
  await crash(conversationId);
  bridge.sees = contextOf('a.ts');
  bridge.finds = { ...NOTHING, attachments: [FILE] };
  expect((await readResponse(responseId)).status).toBe('queued');
  const next = await model.next();
  expect(String(next.request.messages.at(-1)?.content)).toContain(FILE_TOLD);
  next.answer({ text: 'Done.' });
  await untilCompleted(responseId);
});

it('what a message mentions holds up no later message where the first is cancelled during the look', async () => {
  const model = holdModel();
  const bridge = await looking();
  const { sees } = bridge;
  bridge.sees = null;
  const first = await askStreamed({
    bridgeId: bridge.bridgeId,
    messages: [{ role: 'user', content: 'see @https://slow.example/' }],
  });
  await bridge.next('look');
  bridge.sees = sees;
  const second = await askStreamed({ conversationId: first.conversationId });
  await cancel(first.responseId);
  const next = await model.next();
  next.answer({ text: 'Two.' });
  await Promise.all([first.reader.toEnd(), second.reader.toEnd()]);
  expect((await readResponse(second.responseId)).status).toBe('completed');
});

it('what a message mentions that is a rule is sent as a rule alone', async () => {
  const { sent, say, bridge } = await conversation();
  const rule = {
    path: 'src/a.ts',
    origin: 'workspace',
    kind: 'manual',
    folder: '.',
    text: 'Be kind.',
  } as const;
  bridge.sees = { ...contextOf('a.ts'), rules: { files: [rule], leftOut: [] } };
  bridge.finds = { ...NOTHING, attachments: [FILE] };
  await say('see @src/a.ts');
  expect(sent()[0]).toContain('Be kind.');
  expect(sent()[0]).not.toContain('attached_file');
});

describe('what a message that steers mentions', () => {
  const sent = [FILE_TOLD, '<not_attached>\ngone.ts\nIt is gone.\n</not_attached>'].join('\n\n');
  const found = [FILE, { type: 'none' as const, name: 'gone.ts', text: 'It is gone.' }];

  it('is looked up before the model gets the message, and shown', async () => {
    const { model, bridge, first, held, conversationId } = await running();
    bridge.finds = { ...NOTHING, attachments: found, touched: ['b.ts'] };
    const steered = await steer(conversationId, 'see @src/a.ts and @gone.ts');
    held.answer({ text: 'One.' });
    const next = await model.next();
    expect(bridge.asked.at(-1)).toMatchObject({ isSteer: true, mentions: [MENTION, {}] });
    const message = String(next.request.messages.at(-1)?.content);
    expect(message).toBe(`${sent}\n\n${query('see @src/a.ts and @gone.ts')}`);
    next.answer({ text: 'Two.' });
    const events = (await first.reader.toEnd()).map(({ event }) => event);
    await steered.reader.toEnd();
    expect(events).toContainEqual({
      type: 'attached',
      responseId: first.responseId,
      attachments: [
        { type: 'file', name: 'src/a.ts' },
        { type: 'none', name: 'gone.ts', reason: 'It is gone.' },
      ],
    });
    const { metadata } = await readResponse(first.responseId);
    expect(metadata.attachments).toMatchObject([{ name: 'src/a.ts' }, { name: 'gone.ts' }]);
    bridge.finds = NOTHING;
    const later = await askStreamed({ conversationId });
    const after = await model.next();
    expect(after.request.messages.slice(0, next.request.messages.length)).toEqual(
      next.request.messages,
    );
    after.answer({ text: 'Three.' });
    await later.reader.toEnd();
  });

  it('is looked up again after a crash, and that of a later one with it', async () => {
    const { model, bridge, held, conversationId, first } = await running();
    bridge.sees = null;
    await steer(conversationId, 'see @src/a.ts');
    held.answer({ text: 'One.' });
    await bridge.next('look');
    await crash(conversationId);
    await readResponse(first.responseId);
    const { lookId } = await bridge.next('look');
    await steer(conversationId, 'and @gone.ts');
    bridge.sees = contextOf('a.ts');
    bridge.finds = { ...NOTHING, attachments: [{ type: 'none', name: 'gone.ts', text: 'No.' }] };
    const answer = { type: 'context', context: contextOf('a.ts') };
    bridge.send({ ...answer, lookId, findings: { ...NOTHING, attachments: [FILE] } });
    const next = await model.next();
    const told = [FILE_TOLD, query('see @src/a.ts')];
    const missing = ['<not_attached>\ngone.ts\nNo.\n</not_attached>', query('and @gone.ts')];
    expect(next.request.messages.at(-1)?.content).toBe([...told, ...missing].join('\n\n'));
    next.answer({ text: 'Two.' });
    await untilCompleted(first.responseId);
  });

  it('holds up no cancel, and is said to be missing where the bridge does not answer', async () => {
    vi.spyOn(FINDING_LIMITS as { waitMs: number }, 'waitMs', 'get').mockReturnValue(50);
    const { model, bridge, held, conversationId, first } = await running();
    bridge.sees = null;
    await steer(conversationId, 'see @src/a.ts');
    held.answer({ text: 'One.' });
    const next = await model.next();
    expect(next.request.messages.at(-1)?.content).toMatch(/not_attached>\nsrc\/a.ts\nIt could not/);
    await steer(conversationId, 'see @https://slow.example/');
    next.answer({ text: 'Two.' });
    await bridge.next('look');
    await bridge.next('look');
    await cancel(first.responseId);
    expect((await readResponse(first.responseId)).status).toBe('cancelled');
    expect(model.count).toBe(2);
  });

  it('is sent once, and with what it mentions, where such messages come at every moment and race with the end', async () => {
    const { model, bridge, held, conversationId } = await running();
    bridge.finds = { ...NOTHING, attachments: [FILE] };
    const said = Array.from({ length: 12 }, (_, at) => `${at}: see @src/a.ts`);
    let asked = held;
    for (const [at, words] of said.entries()) {
      if (at % 2 === 0) await steer(conversationId, words);
      asked.answer({ text: `Answer ${at}.` });
      if (at % 2 === 1) await steer(conversationId, words);
      asked = await model.next();
    }
    asked.answer({ text: 'The last one.' });
    const sent = asked.request.messages.map(({ content }) => String(content));
    for (const words of said) {
      expect(sent.filter((content) => content.endsWith(query(words)))).toHaveLength(1);
    }
    expect(bridge.asked).toHaveLength(1 + said.length);
  });

  describe('and whose run ended before that', () => {
    it('is looked up before the next run sends it, and shown there', async () => {
      const { model, bridge, conversationId, left } = await leftBehind();
      const next = await goOn(bridge, conversationId);
      await answerLook(bridge, { ...NOTHING, attachments: found });
      const asked = await model.next();
      expect(asked.request.messages.slice(-3)).toMatchObject([
        {
          role: 'user',
          content: expect.stringContaining(`${sent}\n\n${query('see @src/a.ts and @gone.ts')}`),
        },
        { role: 'assistant', content: expect.stringMatching(/^\[The user stopped/) },
        { role: 'user', content: query('go') },
      ]);
      asked.answer({ text: 'Two.' });
      const events = (await next.reader.toEnd()).map(({ event }) => event);
      const { responseId } = next;
      const shown = [{ name: 'src/a.ts' }, { name: 'gone.ts', reason: 'It is gone.' }];
      expect(events).toContainEqual(
        expect.objectContaining({
          type: 'attached',
          responseId,
          attachments: shown.map((one) => expect.objectContaining(one)),
        }),
      );
      expect((await readResponse(responseId)).metadata.attachments).toMatchObject(shown);
      expect((await readResponse(left.responseId)).metadata.attachments).toBeUndefined();
      bridge.sees = contextOf('a.ts');
      bridge.finds = NOTHING;
      const later = await askStreamed({ conversationId });
      const after = await model.next();
      expect(after.request.messages.slice(0, asked.request.messages.length)).toEqual(
        asked.request.messages,
      );
      expect(bridge.asked.filter((message) => message?.isSteer)).toEqual([]);
      after.answer({ text: 'Three.' });
      await later.reader.toEnd();
    });

    it('is looked up by the run after that, where the next one sends its model nothing', async () => {
      const { model, bridge, conversationId } = await leftBehind();
      const next = await goOn(bridge, conversationId);
      await bridge.next('look');
      await steer(conversationId, 'and @src/b.ts');
      await cancel(next.responseId);
      await next.reader.toEnd();
      const third = await goOn(bridge, conversationId);
      const looks = [await bridge.next('look'), await bridge.next('look')];
      for (const { lookId, message } of looks) {
        const name = message?.mentions[0]?.type === 'path' ? message.mentions[0].path : '';
        const attachments = [{ type: 'file', name, text: `1|${name}` } as const];
        sendLook(bridge, lookId, { ...NOTHING, attachments });
      }
      const asked = await model.next();
      const messages = asked.request.messages.map(({ content }) => String(content));
      for (const name of ['src/a.ts', 'src/b.ts']) {
        expect(messages.filter((text) => text.includes(`\n${name}\n1|${name}\n`))).toHaveLength(1);
      }
      asked.answer({ text: 'Three.' });
      await third.reader.toEnd();
    });

    it.each(['before the next message', 'during the look', 'while the model is asked'])(
      'is looked up and shown once where the object is lost %s',
      async (place) => {
        const { model, bridge, conversationId } = await leftBehind();
        if (place === 'before the next message') await crash(conversationId);
        const { reader, responseId } = await goOn(bridge, conversationId);
        if (place === 'during the look') {
          await bridge.next('look');
          await crash(conversationId);
          await readResponse(responseId);
        }
        await answerLook(bridge, { ...NOTHING, attachments: found });
        let asked = await model.next();
        if (place === 'while the model is asked') {
          const { messages } = asked.request;
          await crash(conversationId);
          await readResponse(responseId);
          asked = await model.next();
          expect(asked.request.messages).toEqual(messages);
        }
        expect(asked.request.messages.at(-3)?.content).toContain(sent);
        asked.answer({ text: 'Two.' });
        await untilCompleted(responseId);
        expect((await readResponse(responseId)).metadata.attachments).toHaveLength(2);
        expect(bridge.frames.filter(({ type }) => type === 'look')).toEqual([]);
        await reader.leave();
      },
    );

    it('is looked up by a fork for itself', async () => {
      const { model, bridge, conversationId, left } = await leftBehind();
      const next = await goOn(bridge, conversationId);
      await answerLook(bridge, { ...NOTHING, attachments: [FILE] });
      (await model.next()).answer({ text: 'Two.' });
      await next.reader.toEnd();
      const body = { responseId: left.responseId };
      const forked = await call(`conversations/${conversationId}/forks`, { method: 'POST', body });
      const copy = await forked.json<{ conversationId: string }>();
      const inFork = await goOn(bridge, copy.conversationId);
      await answerLook(bridge, { ...NOTHING, attachments: found });
      const asked = await model.next();
      expect(asked.request.messages.at(-3)?.content).toContain(sent);
      asked.answer({ text: 'Two again.' });
      await inFork.reader.toEnd();
      expect((await readResponse(inFork.responseId)).metadata.attachments).toHaveLength(2);
    });

    /** The conversation after a run that was cancelled with the message unsent. The bridge answers no look by itself. */
    async function leftBehind() {
      const { first: left, ...rest } = await running();
      const { bridge, conversationId } = rest;
      await steer(conversationId, 'see @src/a.ts and @gone.ts');
      await cancel(left.responseId);
      await left.reader.toEnd();
      bridge.sees = null;
      bridge.asked.length = 0;
      return { ...rest, left };
    }

    async function goOn(bridge: ScriptedBridge, conversationId: string) {
      const [answer] = await Promise.all([askStreamed({ conversationId }), answerLook(bridge)]);
      return answer;
    }
  });

  async function answerLook(bridge: ScriptedBridge, findings = NOTHING) {
    sendLook(bridge, (await bridge.next('look')).lookId, findings);
  }

  function sendLook(bridge: ScriptedBridge, lookId: string, findings: Findings) {
    bridge.send({ type: 'context', lookId, context: contextOf('a.ts'), findings });
  }

  async function running() {
    const model = holdModel();
    const bridge = await looking();
    const first = await askStreamed({ bridgeId: bridge.bridgeId });
    const held = await model.next();
    return { model, bridge, first, held, conversationId: first.conversationId };
  }

  function steer(conversationId: string, content: string) {
    const messages = [{ role: 'user', content }];
    return askStreamed({ conversationId, delivery: 'steer', messages });
  }
});

it('what the bridge read of open files is asked for by what the request shows, and sent where it changed', async () => {
  const { sent, say, bridge } = await conversation();
  bridge.finds = { ...NOTHING, openFiles: [{ path: 'a.ts', text: '1|let a;' }] };
  const context = {
    workspacePath: '/work',
    cursor: { path: 'a.ts', line: 3 },
    openFiles: ['/work/a.ts', { path: 'b.ts', content: 'let b;' }, 'c.ts'],
  };
  await say('one', { context });
  await say('two');
  bridge.finds = { ...NOTHING, openFiles: [{ path: 'a.ts', text: '1|let aa;' }] };
  await say('three');
  expect(bridge.asked[0]?.shown).toEqual([
    { path: '/work/a.ts', line: 3 },
    { path: '/work/a.ts' },
    { path: '/work/c.ts' },
  ]);
  expect(bridge.asked[1]?.shown).toBeUndefined();
  expect(sent()[0]).toContain('<open_file>\nb.ts\nlet b;\n</open_file>');
  expect(sent()[0]).toContain('<open_file>\na.ts\n1|let a;\n</open_file>');
  expect(sent().slice(1)).toEqual([
    query('two'),
    `<open_file>\na.ts\n1|let aa;\n</open_file>\n\n${query('three')}`,
  ]);
});

it('what the person does in the editor is sent as the request and the machine know it, once, and what was changed with its message only', async () => {
  const { sent, say, bridge } = await conversation();
  const item = { path: 'a.ts', line: 2, column: 1, severity: 'error' as const, message: 'bad' };
  const changed = [{ path: 'b.ts', text: '+1 -0 lines' }];
  bridge.finds = { ...NOTHING, changed, diagnostics: { items: [item], leftOut: 0 } };
  const selection = { path: 'a.ts', line: 2, text: '</selected_text>' };
  const linterErrors = [{ path: '/work/a.ts', line: 2, message: 'bad' }];
  const editHistory = [
    { path: '/work/b.ts', diff: 'sent by the bridge' },
    { path: 'c.ts', diff: '-</edit_history>\n+c' },
    { path: 'd\n.ts' },
  ];
  await say('one', { context: { selection, linterErrors, editHistory } });
  for (const part of [
    '<selected_text>\na.ts:2\n&lt;/selected_text&gt;\n</selected_text>',
    '<linter_errors>\n/work/a.ts:2: error: bad\n</linter_errors>',
    '<edit_history>\nc.ts\n-&lt;/edit_history&gt;\n+c\n"d\\n.ts"\n</edit_history>',
    '<changed_file>\nb.ts\n+1 -0 lines\n</changed_file>',
  ]) {
    expect(sent()[0]).toContain(part);
  }
  expect(bridge.asked[0]?.shown).toEqual([{ path: './a.ts', line: 2 }]);
  await say('two');
  await say('three', { context: { selection: { path: 'a.ts', text: '' }, linterErrors: [] } });
  expect(sent().slice(1)).toEqual([
    query('two'),
    [
      '<linter_errors>\na.ts:2:1: error: bad\n</linter_errors>',
      '<selected_text>\n(none any more)\n</selected_text>',
      query('three'),
    ].join('\n\n'),
  ]);
});

it('what others changed is sent once for as long as it is the same, and names are sent as they come', async () => {
  const { sent, say, bridge } = await conversation();
  await say('one');
  const changed = [{ path: 'a.ts', text: '+1 -0 lines\n@@ line 1 @@\n+</user_query>' }];
  bridge.finds = { ...NOTHING, changed, touched: ['b.ts', 'c\n.ts'] };
  await say('two');
  bridge.finds = { ...NOTHING, changed };
  await say('three');
  bridge.finds = NOTHING;
  await say('four');
  bridge.finds = { ...NOTHING, changed };
  await say('five');
  const [{ path, text } = { path: '', text: '' }] = changed;
  const diff = `<changed_file>\n${path}\n${text.replace('</user_query>', '&lt;/user_query&gt;')}\n</changed_file>`;
  expect(sent().slice(1)).toEqual([
    `${diff}\n\n<changed_files>\nb.ts\n"c\\n.ts"\n</changed_files>\n\n${query('two')}`,
    query('three'),
    query('four'),
    `${diff}\n\n${query('five')}`,
  ]);
});

function looking(): Promise<ScriptedBridge> {
  return connectLookingBridge();
}
