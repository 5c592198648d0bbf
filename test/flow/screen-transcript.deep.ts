import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HAS_TMUX } from '../cli/tmux.ts';
import { screenHome } from './screen-home.ts';

const home = screenHome({ DRAWBRIDGE_PRESET: 'workspace' });
const EDIT = { path: 'a.ts', old_string: 'line20 = 20', new_string: 'line20 = 200' };

home.answer(({ messages }) => {
  if (messages.at(-1)?.role === 'tool')
    return { text: 'It is **done**:\n\n- in `a.ts`\n\n```ts\nconst line20 = 200;\n```\n' };
  return {
    text: 'I look first.',
    calls: [
      { name: 'read_file', arguments: { target_file: 'a.ts' } },
      { name: 'str_replace', arguments: EDIT },
    ],
  };
});

describe.runIf(HAS_TMUX).each([40, 80, 200])('a screen of %i columns', (columns) => {
  it('shows calls, a change and code, unfolds them, and wraps anew', async () => {
    writeFileSync(join(home.folder, 'a.ts'), 'const line20 = 20;\n');
    const screen = await home.open([], { columns, rows: 50 });
    await screen.shows(/agent · scripted/);
    await screen.type('go');
    await screen.press('Enter');
    await screen.shows(/tool\s+calls ·/);
    const shown = await screen.screen();
    const expected = [
      'I look first.',
      /• read_file a\.ts → /,
      /• edit a\.ts \+1 −1/,
      /1 +− const line20 = 20;/,
      /1 \+ const line20 = 200;/,
      'It is done:',
      '- in a.ts',
      '  const line20 = 200;',
    ];
    for (const words of expected) expect(shown).toMatch(words);
    await screen.press('C-o');
    await screen.shows('"target_file": "a.ts"');
    await screen.press('C-o');
    await screen.hides('"target_file": "a.ts"');
    await screen.resize(30, 50);
    await screen.shows(/^• read_file a\.ts → .{10}…$/m);
    await screen.press('C-d');
    expect(await screen.ended()).toBe(0);
  });
});
