import { expect, it } from 'vitest';
import { parsePromptBlocks } from '../../../shared/settings/prompt-blocks.ts';

it('takes changes in their order', () => {
  const changes = [
    { change: 'append', block: 'trust', text: 'Ask before you delete.' },
    { change: 'add', block: 'house', after: 'role', text: 'Tabs.', modes: ['agent'] },
    { change: 'replace', block: 'house', text: 'Spaces.', models: ['gpt-*'] },
  ];
  expect(parsePromptBlocks(JSON.stringify(changes))).toEqual(changes);
});

it.each([
  ['{', /^PROMPT_BLOCKS: must be a JSON list of changes/],
  [{}, /^PROMPT_BLOCKS: /],
  [[{ change: 'rewrite', block: 'role' }], /^PROMPT_BLOCKS\[0\]\.change: /],
  [[{ change: 'append', block: 'role' }], /^PROMPT_BLOCKS\[0\]\.text: /],
  [[{ change: 'omit', block: 'role', txt: '' }], /^PROMPT_BLOCKS\[0\]\.txt: /],
  [[{ change: 'omit', block: 'rôle' }], /^PROMPT_BLOCKS\[0\]\.block: must be a name/],
  [[{ change: 'omit', block: 'rule' }], /^PROMPT_BLOCKS\[0\]\.block: there is no block rule: name/],
  [[{ change: 'omit', block: 'role', modes: ['agnt'] }], /^PROMPT_BLOCKS\[0\]\.modes\[0\]: /],
  [
    [{ change: 'omit', block: 'trust' }],
    /^PROMPT_BLOCKS\[0\]\.block: trust can only be appended to$/,
  ],
  [
    [{ change: 'replace', block: 'user_rules', text: 'x' }],
    /^PROMPT_BLOCKS\[0\]\.block: user_rules can only be appended to$/,
  ],
  [
    [{ change: 'add', block: 'role', after: 'mode', text: 'x' }],
    /^PROMPT_BLOCKS\[0\]\.block: there is a block role already$/,
  ],
  [
    [
      { change: 'omit', block: 'asking' },
      { change: 'add', block: 'one', after: 'two', text: 'x' },
    ],
    /^PROMPT_BLOCKS\[1\]\.after: there is no block two/,
  ],
])('refuses %j, and names the wrong field', (value, message) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  expect(() => parsePromptBlocks(text)).toThrow(
    expect.objectContaining({ code: 'NOT_CONFIGURED', message: expect.stringMatching(message) }),
  );
});
