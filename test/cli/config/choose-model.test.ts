import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chooseModel } from '../../../cli/config/choose-model.ts';
import { Interrupted } from '../../../cli/terminal/interrupted.ts';
import type { listModelsAt } from '../../../local/config/discover.ts';
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

/** The key `sk-wrong…` is refused; `http://127.0.0.1:1/v1` does not answer. */
const list: typeof listModelsAt = async (baseUrl, _, headers = {}) => {
  if (JSON.stringify(headers).includes('sk-wrong')) return { outcome: 'refused', why: 'HTTP 401' };
  if (baseUrl.includes('locked') && headers['authorization'] === undefined)
    return { outcome: 'refused', why: 'HTTP 401' };
  if (baseUrl === 'http://unlisted.test:5/v1') return { outcome: 'unlisted', why: 'HTTP 404' };
  if (baseUrl.includes(':1/')) return { outcome: 'unreachable', why: 'ECONNREFUSED' };
  if (baseUrl.includes('openrouter')) return { outcome: 'listed', models: ['first/model'] };
  return { outcome: 'listed', models: ['gpt-5.2', 'claude-sonnet-5'] };
};

async function choose(answers: (string | undefined)[], variables: NodeJS.ProcessEnv = KEYS) {
  const { env, path } = newConfig({ mode: 'plan', key: { env: 'OLD' } });
  const terminal = scriptTerminal({ answers });
  await chooseModel(terminal, { ...env, ...variables }, signal, {
    find: async () => [OLLAMA],
    list,
  });
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
        '  5  OpenRouter         models of many companies, with a key from openrouter.ai',
        '  6  another server     Ollama, LM Studio, vLLM and others, by its address',
        '  7  the built-in demo  no language model; it needs nothing\n\n',
      ].join('\n'),
    );
    const { screen: without } = await choose([undefined], {});
    expect(without).toContain('  3  OpenAI             with a key from platform.openai.com\n');
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
      ['6', 'ftp://a', 'http://127.0.0.1:1/v1', 'NO_KEY', 'OPENAI_API_KEY', '', 'mine'],
      { baseUrl: 'http://127.0.0.1:1/v1', model: 'mine', key: { env: 'OPENAI_API_KEY' } },
    ],
    ['the demo', ['7'], { model: 'demo' }],
  ])('keeps %s', async (_, answers, kept) => {
    const chosen = await choose(answers);
    expect(chosen.kept).toEqual(kept);
    expect(chosen.questions).toHaveLength(answers.length);
    expect(chosen.screen).toContain('Kept in ');
  });

  test.each([[[undefined]], [['3', undefined]], [['6', undefined]]])(
    'changes nothing at the end of the input: %j',
    async (answers) => {
      expect((await choose(answers)).kept).toEqual({ key: { env: 'OLD' } });
    },
  );

  test('says that an address does not answer, and keeps it all the same', async () => {
    const { screen, kept } = await choose(['6', 'http://127.0.0.1:1/v1', '', 'mine']);
    expect(screen).toContain('The server cannot be reached at the moment (ECONNREFUSED).\n');
    expect(kept).toEqual({ baseUrl: 'http://127.0.0.1:1/v1', model: 'mine' });
  });

  test('keeps a pasted key in a file for the owner alone, and asks again for a refused one', async () => {
    const { env, folder } = newConfig();
    const terminal = scriptTerminal({
      answers: ['4', 'two words', 'sk-wrong-key', 'sk-right-key', ''],
    });
    await chooseModel(terminal, env, signal, { find: async () => [], list });
    expect(terminal.screen()).toContain('A key is one word of at least 8 characters');
    expect(terminal.screen()).toContain('OpenRouter refuses this key (HTTP 401).');
    expect(terminal.screen()).not.toContain('sk-');
    const file = join(folder, 'keys', 'openrouter');
    expect(readFileSync(file, 'utf8')).toBe('sk-right-key\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { shown } = await readSettings(env);
    expect(shown.get('model')?.value).toBe('first/model');
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).not.toContain('sk-');
  });

  test.each([
    ['127.0.0.1:18900', 'http://127.0.0.1:18900/v1'],
    ['127.0.0.1:18900/', 'http://127.0.0.1:18900/v1'],
    ['localhost:8000', 'http://localhost:8000/v1'],
    ['192.168.1.4', 'http://192.168.1.4/v1'],
    ['[::1]:9000', 'http://[::1]:9000/v1'],
    ['gpu-box:8000/v1', 'http://gpu-box:8000/v1'],
    ['api.example.com/openai/v1', 'https://api.example.com/openai/v1'],
    ['api.example.com', 'https://api.example.com/v1'],
    ['http://127.0.0.1:8000/v1/', 'http://127.0.0.1:8000/v1'],
    ['unlisted.test:5', 'http://unlisted.test:5'],
  ])('takes the address %s', async (address, baseUrl) => {
    const { kept } = await choose(['6', address, '', 'mine']);
    expect(kept).toEqual({ baseUrl, model: 'mine' });
  });

  test('keeps a pasted key of another server in a file, too', async () => {
    const { env, folder } = newConfig();
    const answers = ['5', 'locked.test:8000', '', 'sk-wrong-key', 'sk-right-key', 'mine'];
    const terminal = scriptTerminal({ answers });
    await chooseModel(terminal, env, signal, { find: async () => [], list });
    expect(terminal.screen()).not.toContain('sk-');
    const file = join(folder, 'keys', 'locked.test_8000');
    expect(readFileSync(file, 'utf8')).toBe('sk-right-key\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const kept = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
    expect(kept).toMatchObject({ key: { file: 'keys/locked.test_8000' }, model: 'mine' });
  });

  test('takes the demo at an Enter where nothing was found', async () => {
    const { env, path } = newConfig();
    const terminal = scriptTerminal({ answers: [''] });
    await chooseModel(terminal, env, signal, { find: async () => [], list });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ model: 'demo' });
  });

  test('takes the name of a variable instead of a key, if it is set', async () => {
    const { kept, screen } = await choose(['5', 'MISSING', 'MY_KEY', ''], { MY_KEY: 'sk-mine' });
    expect(screen).toContain('A key is one word of at least 8 characters');
    expect(screen).not.toContain('MISSING');
    expect(kept).toMatchObject({ key: { env: 'MY_KEY' }, model: 'first/model' });
  });

  test('never shows what was pasted as a key, and takes one of capitals after a yes', async () => {
    const { env, folder } = newConfig();
    const pasted = ['ABCDEF0123456789SECRET', 'OPENAI_API_KEI'];
    const answers = ['5', 'host.test:9000', pasted[1], 'n', pasted[0], 'y', 'mine'];
    const terminal = scriptTerminal({ answers: [...answers, undefined] });
    await chooseModel(terminal, env, signal, { find: async () => [], list });
    for (const text of [terminal.screen(), ...terminal.questions]) {
      for (const key of pasted) expect(text).not.toContain(key);
    }
    expect(terminal.questions).toHaveLength(answers.length);
    const file = join(folder, 'keys', 'host.test_9000');
    expect(readFileSync(file, 'utf8')).toBe(`${pasted[0]}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('is interrupted by Ctrl-C', async () => {
    const { env } = newConfig();
    const terminal = scriptTerminal();
    const chosen = chooseModel(terminal, env, signal, { find: async () => [], list });
    await expect.poll(() => terminal.questions).toHaveLength(1);
    terminal.interrupt();
    await expect(chosen).rejects.toBeInstanceOf(Interrupted);
  });

  test('keeps what was changed in the file since the question', async () => {
    const { env, path } = newConfig({ mode: 'plan' });
    await chooseModel(scriptTerminal({ answers: ['1'] }), env, signal, {
      find: async () => {
        writeFileSync(path, JSON.stringify({ mode: 'ask' }));
        return [OLLAMA];
      },
      list,
    });
    const kept = JSON.parse(readFileSync(path, 'utf8'));
    expect(kept).toMatchObject({ mode: 'ask', model: 'qwen' });
  });

  test('leaves a table of models alone', async () => {
    const { env } = newConfig({
      models: ['a', 'b'].map((id) => ({ id, baseUrl: OLLAMA.baseUrl })),
    });
    const chosen = chooseModel(scriptTerminal(), env, signal, { find: async () => [], list });
    await expect(chosen).rejects.toThrow(/has a table of models: `.*config edit` changes it/);
  });

  test('that cannot be kept is reported, and stops nothing', async () => {
    const { env, folder } = newConfig();
    mkdirSync(join(folder, 'config.schema.json'));
    const terminal = scriptTerminal({ answers: ['1'] });
    await chooseModel(terminal, env, signal, { find: async () => [], list });
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
