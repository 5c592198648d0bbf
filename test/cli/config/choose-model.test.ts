import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chooseModel } from '../../../cli/config/choose-model.ts';
import { Interrupted } from '../../../cli/terminal/interrupted.ts';
import { readSettings } from '../../../local/config/settings.ts';
import { newConfig } from '../../local/config/config-folder.ts';
import { DRAWBRIDGE } from '../bundle.ts';
import { callDrawbridge } from '../called.ts';
import { newPlace } from '../drawbridge.ts';
import { HAS_TERMINALS, openPseudoTerminal } from '../pseudo-terminal.ts';
import { scriptTerminal } from '../scripted-terminal.ts';

const OLLAMA = { name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', models: ['qwen', 'phi'] };
const KEYS = { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-2' };
const { signal } = new AbortController();

async function choose(answers: (string | undefined)[], variables: NodeJS.ProcessEnv = KEYS) {
  const { env, path } = newConfig({ mode: 'plan', key: { env: 'OLD' } });
  const terminal = scriptTerminal({ answers });
  await chooseModel(terminal, { ...env, ...variables }, signal, async () => [OLLAMA]);
  const { $schema: _, mode: _mode, ...kept } = JSON.parse(readFileSync(path, 'utf8'));
  return { kept, screen: terminal.screen(), questions: terminal.questions };
}

describe('the choice of a model', () => {
  test('shows what this machine has', async () => {
    const { screen } = await choose([undefined]);
    expect(screen).toBe(
      [
        'Which model should answer?\n',
        '  1  qwen               Ollama on this machine',
        '  2  phi                Ollama on this machine',
        '  3  OpenAI             with the key in OPENAI_API_KEY',
        '  4  Anthropic          with the key in ANTHROPIC_API_KEY',
        '  5  another server     OpenAI-compatible, by its URL',
        '  6  the built-in demo  no language model; it needs nothing\n\n',
      ].join('\n'),
    );
    expect((await choose([undefined], {})).screen).not.toContain('OpenAI  ');
  });

  test.each<[string, string[], unknown]>([
    ['the first by Enter', [''], { baseUrl: OLLAMA.baseUrl, model: 'qwen' }],
    ['a number', ['x', '9', ' 2 '], { baseUrl: OLLAMA.baseUrl, model: 'phi' }],
    ['OpenAI', ['3', ''], { key: { env: 'OPENAI_API_KEY' }, model: 'gpt-5.2' }],
    [
      'Anthropic',
      ['4', 'claude-opus-5'],
      {
        models: [
          expect.objectContaining({
            id: 'claude-opus-5',
            dialect: 'anthropic',
            key: { env: 'ANTHROPIC_API_KEY' },
          }),
        ],
      },
    ],
    [
      'another server',
      ['5', 'localhost', 'http://127.0.0.1:1/v1', '', 'mine', 'sk-1234', 'MY_KEY'],
      { baseUrl: 'http://127.0.0.1:1/v1', model: 'mine', key: { env: 'MY_KEY' } },
    ],
    ['the demo', ['6'], { model: 'demo' }],
  ])('keeps %s', async (_, answers, kept) => {
    const chosen = await choose(answers);
    expect(chosen.kept).toEqual(kept);
    expect(chosen.questions).toHaveLength(answers.length);
    expect(chosen.screen).toContain('Kept in ');
  });

  test.each([[[undefined]], [['3', undefined]], [['5', undefined]]])(
    'changes nothing at the end of the input: %j',
    async (answers) => {
      expect((await choose(answers)).kept).toEqual({ key: { env: 'OLD' } });
    },
  );

  test('is interrupted by Ctrl-C', async () => {
    const { env } = newConfig();
    const terminal = scriptTerminal();
    const chosen = chooseModel(terminal, env, signal, async () => []);
    await expect.poll(() => terminal.questions).toHaveLength(1);
    terminal.interrupt();
    await expect(chosen).rejects.toBeInstanceOf(Interrupted);
  });

  test('keeps what was changed in the file since the question', async () => {
    const { env, path } = newConfig({ mode: 'plan' });
    await chooseModel(scriptTerminal({ answers: ['1'] }), env, signal, async () => {
      writeFileSync(path, JSON.stringify({ mode: 'ask' }));
      return [OLLAMA];
    });
    const kept = JSON.parse(readFileSync(path, 'utf8'));
    expect(kept).toMatchObject({ mode: 'ask', model: 'qwen' });
  });

  test('leaves a table of models alone', async () => {
    const { env } = newConfig({ models: [{ id: 'a', baseUrl: OLLAMA.baseUrl }] });
    const chosen = chooseModel(scriptTerminal(), env, signal, async () => []);
    await expect(chosen).rejects.toThrow(/has a table of models: `.*config edit` changes it/);
  });

  test('that cannot be kept is reported, and stops nothing', async () => {
    const { env, folder } = newConfig();
    mkdirSync(join(folder, 'config.schema.json'));
    const terminal = scriptTerminal({ answers: ['2'] });
    await chooseModel(terminal, env, signal, async () => []);
    expect(terminal.screen()).toContain(`The choice cannot be kept in ${folder}: `);
  });
});

test.runIf(HAS_TERMINALS)(
  'up asks once at a terminal, and not for what was typed before',
  async () => {
    const { env, path } = newConfig();
    const { workspaceDir, stateDir } = newPlace();
    const words = [
      'up',
      '--port',
      '0',
      '--no-bridge',
      '--workspace',
      workspaceDir,
      '--state',
      stateDir,
    ];
    const start = () => openPseudoTerminal([process.execPath, DRAWBRIDGE, ...words], { env });
    const first = start();
    first.type('1\r1\r');
    await first.shows('Number (Enter for 1): ');
    expect(existsSync(path)).toBe(false);
    const demo = /(\d+) {2}the built-in demo/.exec(first.screen())?.[1] ?? '';
    first.type(`${demo}\r`);
    await first.shows('Drawbridge is ready.');
    first.type('\x03');
    expect((await first.finished).code).toBe(0);
    expect(await readSettings(env)).toMatchObject({ isModelChosen: true });
    const second = start();
    await second.shows('Drawbridge is ready.');
    second.type('\x03');
    await second.finished;
    expect(second.screen()).not.toContain('Which model');
  },
);

test.runIf(HAS_TERMINALS)('Ctrl-C at the question ends up', async () => {
  const { env, path } = newConfig();
  const { workspaceDir, stateDir } = newPlace();
  const words = ['up', '--port', '0', '--workspace', workspaceDir, '--state', stateDir];
  const terminal = openPseudoTerminal([process.execPath, DRAWBRIDGE, ...words], { env });
  await terminal.shows('Number (Enter for 1): ');
  terminal.type('\x03');
  expect((await terminal.finished).code).toBe(130);
  expect(existsSync(path)).toBe(false);
});

test('config model needs a terminal', async () => {
  const { env } = newConfig();
  expect(await callDrawbridge(['config', 'model'], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/There is no terminal to ask at: use `.*config set model NAME`/),
  });
});
