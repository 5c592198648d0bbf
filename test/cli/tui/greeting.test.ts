import { expect, test } from 'vitest';
import { EXAMPLES } from '../../../cli/chat/message.ts';
import { nextMove } from '../../../packages/model/demo/intents.ts';
import { TOOLS } from '../../../shared/tools/catalogue.ts';
import { openWriter } from './open-writer.ts';

const PLACEHOLDER = 'Ask or tell it something';

test('an empty box says what to write, and Tab writes one example after the other', async () => {
  const { terminal, writer, sent } = await openWriter();
  await expect.poll(() => terminal.screen()).toContain(PLACEHOLDER);
  const [first = '', second = '', third = ''] = EXAMPLES;
  for (const example of [first, second, third, first]) {
    terminal.type('\t');
    expect(writer.composer.getText()).toBe(example);
    writer.composer.write('');
  }
  terminal.type('\t');
  terminal.type('\r');
  await expect.poll(sent).toEqual([second]);
  await expect.poll(() => terminal.screen()).not.toContain(PLACEHOLDER);
  terminal.type('\t');
  expect(writer.composer.getText()).toBe('');
});

test.each(EXAMPLES)('the demo model does something for: %s', (query) => {
  const tools = new Set(TOOLS.map(({ name }) => name));
  const { call } = nextMove({ query, isFirstAnswer: true, results: [] }, tools);
  expect(call).toBeDefined();
});
