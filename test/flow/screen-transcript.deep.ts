import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAS_TMUX, openTmux } from '../cli/tmux.ts';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { PROGRAM } from './house.ts';

const home = mkdtempSync(join(tmpdir(), 'drawbridge-transcript-'));
const cwd = join(home, 'folder');
const env = {
  XDG_STATE_HOME: home,
  XDG_CONFIG_HOME: home,
  DRAWBRIDGE_PORT: '0',
  DRAWBRIDGE_PRESET: 'workspace',
  OPENAI_MODEL: 'scripted',
};
let model: ScriptedModel;

beforeAll(async () => {
  mkdirSync(cwd);
  const lines = Array.from({ length: 40 }, (_, at) => `const line${at + 1} = ${at + 1};\n`);
  writeFileSync(join(cwd, 'a.ts'), lines.join(''));
  const edit = { path: 'a.ts', old_string: 'line20 = 20', new_string: 'line20 = 200' };
  model = await startScriptedModel(({ messages }) => {
    const isDone = messages.at(-1)?.role === 'tool';
    if (isDone)
      return { text: 'It is **done**:\n\n- in `a.ts`\n\n```ts\nconst line20 = 200;\n```\n' };
    return {
      text: 'I look first.',
      calls: [
        { name: 'read_file', arguments: { target_file: 'a.ts' } },
        { name: 'str_replace', arguments: edit },
      ],
    };
  });
});

afterAll(async () => {
  const [program, ...first] = PROGRAM;
  spawnSync(program, [...first, 'stop'], { env: { ...process.env, ...env }, cwd });
  await model?.close();
  rmSync(home, { recursive: true, force: true });
});

describe.runIf(HAS_TMUX).each([40, 80, 200])('a screen of %i columns', (columns) => {
  it('shows calls, a change and code, unfolds them, and wraps anew', async () => {
    writeFileSync(join(cwd, 'a.ts'), 'const line20 = 20;\n');
    const screen = await openTmux(PROGRAM, {
      env: { ...env, OPENAI_BASE_URL: model.baseUrl },
      cwd,
      columns,
      rows: 50,
    });
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
