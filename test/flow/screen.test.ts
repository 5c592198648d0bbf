import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAS_TMUX, openTmux } from '../cli/tmux.ts';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { PROGRAM } from './house.ts';

const home = mkdtempSync(join(tmpdir(), 'drawbridge-screen-'));
const cwd = join(home, 'folder');
const env = {
  ...{ XDG_STATE_HOME: home, XDG_CONFIG_HOME: home, DRAWBRIDGE_PORT: '0' },
  ...{ DRAWBRIDGE_PRESET: 'ask', OPENAI_MODEL: 'scripted' },
};
let model: ScriptedModel;

beforeAll(async () => {
  mkdirSync(cwd);
  model = await startScriptedModel(({ messages }) => {
    const asked = /<user_query>\n(.*)\n<\/user_query>/.exec(String(messages.at(-1)?.content))?.[1];
    return { text: `Heard **${asked}** well.` };
  });
});

afterAll(async () => {
  const [program, ...first] = PROGRAM;
  spawnSync(program, [...first, 'stop'], { env: { ...process.env, ...env }, cwd });
  await model?.close();
  rmSync(home, { recursive: true, force: true });
});

describe.runIf(HAS_TMUX)('drawbridge on the screen of a terminal', () => {
  it('answers with rendered Markdown, shows where it works, and leaves', async () => {
    const screen = await openTmux(PROGRAM, {
      env: { ...env, OPENAI_BASE_URL: model.baseUrl },
      cwd,
    });
    await screen.shows(/agent · scripted/);
    await screen.type('one line');
    await screen.press('Enter');
    await screen.shows('Heard one line well.');
    await screen.shows('❯ one line');
    await screen.press('C-d');
    expect(await screen.ended()).toBe(0);
  });
});
