import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { startHouse, until } from './house.ts';

it('sends a glob rule in the middle of a run, after the model has read a file that it matches', async () => {
  const model = await startScriptedModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { text: 'Done.' }
      : {
          text: 'I look.',
          calls: [{ name: 'read_file', arguments: { target_file: 'src/a.ts' } }],
        },
  );
  onTestFinished(() => model.close());
  await using house = await startHouse({ modelUrl: model.baseUrl, prepare: putRules });
  const { id, conversationId, status } = await house.client.chat({
    messages: [{ role: 'user', content: 'read it' }],
  });
  expect(status).toBe('completed');
  const [first, second] = model.requests.map(({ messages }) => messages);
  expect(first?.[1]?.content).toContain(
    '<rule>\nAGENTS.md (for the whole workspace)\nUse tabs. @docs/more.md\n\nFrom docs/more.md:\nMore.\n</rule>',
  );
  expect(first?.[1]?.content).not.toContain('No any.');
  expect(second?.slice(0, 2)).toEqual(first);
  expect(second?.slice(2).map(({ role }) => role)).toEqual(['assistant', 'tool', 'user']);
  expect(second?.at(-1)?.content).toBe(
    '<rule>\n.cursor/rules/ts.mdc (for src/**/*.ts)\nNo any.\n</rule>',
  );

  const { responseId, rules, leftOut } = await house.client.getRules(conversationId);
  expect(responseId).toBe(id);
  expect(rules.map(({ path, state, reason }) => [path, state, reason])).toEqual([
    ['AGENTS.md', 'applied', 'always'],
    ['.cursor/rules/py.mdc', 'unused', 'no_file'],
    ['.cursor/rules/ts.mdc', 'applied', 'file'],
  ]);
  expect(leftOut).toEqual([{ path: '.cursor/rules/binary.mdc', reason: 'it is no text' }]);

  writeFileSync(join(house.workspace, 'AGENTS.md'), 'Use spaces.');
  await until(async () => {
    const again = { messages: [{ role: 'user' as const, content: 'again' }], conversationId };
    await house.client.chat(again);
    return JSON.stringify(model.requests.at(-1)?.messages).includes('Use spaces.');
  });
});

it('a rule of a megabyte, a broken head and files that name each other stop no conversation', async () => {
  const model = await startScriptedModel(() => ({ text: 'Done.' }));
  onTestFinished(() => model.close());
  await using house = await startHouse({ modelUrl: model.baseUrl, prepare: putBadRules });
  const say = (content: string, conversationId?: string) =>
    house.client.chat({
      messages: [{ role: 'user', content }],
      ...(conversationId !== undefined && { conversationId }),
    });
  const first = await say('see @docs/one.md and @broken');
  expect(first.status).toBe('completed');
  const sent = String(model.requests[0]?.messages.at(-1)?.content);
  const times = (text: string) => sent.split(text).length - 1;
  expect(sent).toContain('Two rules: @docs/one.md\n\nFrom docs/one.md:\nOne, see @two.md');
  expect([times('From docs/two.md:\nTwo, see @one.md'), times('Two, see')]).toEqual([1, 1]);
  expect(times('One, see')).toBe(2); // The rule includes the file, and the message attaches it.
  expect([times('Broken rule.'), times('alwaysApply')]).toEqual([1, 0]);

  const { rules, leftOut } = await house.client.getRules(first.conversationId);
  expect(leftOut).toEqual([
    { path: '.cursor/rules/large.mdc', reason: 'it is larger than 256 KiB' },
  ]);
  expect(rules.find(({ path }) => path.endsWith('broken.mdc'))).toMatchObject({
    state: 'applied',
    notes: [expect.stringContaining('is no "key: value"')],
  });
  expect((await say('And now?', first.conversationId)).status).toBe('completed');
});

function putBadRules(workspace: string): void {
  const put = (name: string, text: string) => {
    mkdirSync(join(workspace, name, '..'), { recursive: true });
    writeFileSync(join(workspace, name), text);
  };
  put('AGENTS.md', 'Two rules: @docs/one.md');
  put('docs/one.md', 'One, see @two.md');
  put('docs/two.md', 'Two, see @one.md');
  put('.cursor/rules/large.mdc', `---\nalwaysApply: true\n---\n${'x'.repeat(1024 * 1024)}`);
  put('.cursor/rules/broken.mdc', '---\n{alwaysApply\n---\nBroken rule.');
}

function putRules(workspace: string): void {
  const put = (name: string, text: string) => {
    mkdirSync(join(workspace, name, '..'), { recursive: true });
    writeFileSync(join(workspace, name), text);
  };
  put('AGENTS.md', 'Use tabs. @docs/more.md');
  put('docs/more.md', 'More.\n');
  put(
    '.cursor/rules/ts.mdc',
    '---\ndescription:\nglobs: src/**/*.ts\nalwaysApply: false\n---\nNo any.\n',
  );
  put('.cursor/rules/py.mdc', '---\nglobs: *.py\n---\nTypes.\n');
  put('.cursor/rules/binary.mdc', 'a\0b');
  put('src/a.ts', 'export const a = 1;\n');
}
