import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  openServerSettings,
  readSettings,
  type SettingName,
} from '../../../local/config/settings.ts';
import { modelVariables } from '../../../local/settings.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { newConfig } from './config-folder.ts';

const OPENAI = 'https://api.openai.com/v1';
const OLLAMA = 'http://127.0.0.1:11434/v1';
const MY_KEY = { env: 'MY_KEY' };

/** The Worker's variables of the model for a file and an environment. */
async function variablesFor(config: unknown, variables: NodeJS.ProcessEnv = {}) {
  const { env } = newConfig(config);
  const settings = await readSettings({ ...env, MY_KEY: 'mine', ...variables });
  const { model } = await openServerSettings(settings, () => {}, new AbortController().signal);
  return modelVariables(model);
}

describe('the model of config.json', () => {
  const QWEN = { baseUrl: OLLAMA, model: 'qwen' };
  const GPT = { key: MY_KEY, model: 'gpt' };
  const MINE = { models: [{ id: 'mine', key: MY_KEY }], model: 'mine' };
  const THEIRS = { OPENAI_API_KEY: 'theirs' };
  const THEIR_GPT = { ...THEIRS, OPENAI_MODEL: 'gpt' };
  const THEIR_TABLE = { MODELS: '[{"id":"theirs"}]', OPENAI_API_KEY: 'k' };
  const of = (OPENAI_MODEL: string, OPENAI_API_KEY: string) => ({
    OPENAI_BASE_URL: OPENAI,
    OPENAI_API_KEY,
    OPENAI_MODEL,
  });
  const THERE = { OPENAI_BASE_URL: OLLAMA };
  const DEMO = { model: 'demo' };
  const LOCAL = { OPENAI_BASE_URL: OLLAMA, OPENAI_MODEL: 'qwen' };

  test.each<[string, unknown, NodeJS.ProcessEnv, Record<string, string>]>([
    ['nothing is the demo', {}, {}, {}],
    ['a server without a key', QWEN, {}, LOCAL],
    ['a key by reference', GPT, {}, of('gpt', 'mine')],
    ['the environment names another model', GPT, { OPENAI_MODEL: 'b' }, of('b', 'mine')],
    ['the environment has another key for OpenAI', GPT, THEIRS, of('gpt', 'theirs')],
    ['the key for OpenAI does not go to another server', QWEN, THEIRS, LOCAL],
    ['a server of the environment gets no key or model of the file', GPT, THERE, THERE],
    ['a chosen demo stays', DEMO, THEIRS, {}],
    ['a model of the environment replaces a demo', DEMO, THEIR_GPT, of('gpt', 'theirs')],
    ['a table of the environment replaces the whole file', MINE, THEIR_TABLE, THEIR_TABLE],
  ])('%s', async (_, config, variables, expected) => {
    expect(await variablesFor(config, variables)).toEqual(expected);
  });

  test('a table goes to the Worker with its keys', async () => {
    const models = [
      { id: 'local', baseUrl: OLLAMA },
      { id: 'claude', dialect: 'anthropic', key: MY_KEY },
    ];
    const { MODELS = '', ...others } = await variablesFor({ models, model: 'claude' });
    expect(others).toEqual({ CONFIG_KEY_2: 'mine', OPENAI_MODEL: 'claude' });
    expect(JSON.parse(MODELS)).toMatchObject([
      { id: 'local', baseUrl: OLLAMA },
      { id: 'claude', keyName: 'CONFIG_KEY_2' },
    ]);
    expect(MODELS).not.toContain('MY_KEY');
  });
});

test('settings of the server become variables of the Worker, below the environment', async () => {
  const { env } = newConfig({
    server: {
      allowedOrigins: ['https://a.test', 'https://b.test'],
      requestsPerMinute: 0,
      webhookOrigins: ['http://127.0.0.1:9000'],
      maxTurns: 300,
      runsPerMinute: 5,
      textOnlyModels: ['a', 'b'],
      promptBlocks: [{ change: 'omit', block: 'asking' }],
    },
  });
  const settings = await readSettings({ ...env, RATE_LIMIT_RUNS_PER_MINUTE: '9' });
  const opened = await openServerSettings(settings, () => {}, new AbortController().signal);
  expect(opened.workerSettings).toEqual({
    ALLOWED_ORIGINS: 'https://a.test,https://b.test',
    WEBHOOK_ORIGINS: 'http://127.0.0.1:9000',
    TEXT_ONLY_MODELS: 'a,b',
    MAX_TURNS: '300',
    RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
    RATE_LIMIT_RUNS_PER_MINUTE: '9',
    PROMPT_BLOCKS: '[{"change":"omit","block":"asking"}]',
  });
});

describe('the model for vectors', () => {
  const key = { file: 'key' };
  const NOMIC = {
    id: 'v',
    roles: ['embed'],
    baseUrl: OLLAMA,
    upstreamId: 'nomic',
    isPrivate: true,
  };
  const OTHER = { id: 'w', roles: ['embed'], baseUrl: OPENAI };
  const EMBED = { id: 'v', roles: ['embed'] };
  const keyed = (baseUrl: string) => ({
    baseUrl,
    model: 'v',
    isPrivate: false,
    readKey: expect.any(Function),
  });

  test.each<[string, unknown, unknown]>([
    ['none', { models: [{ id: 'a' }] }, undefined],
    [
      'the first one, at its own server and without the key of another',
      { key, models: [{ id: 'a' }, NOMIC, OTHER] },
      { baseUrl: OLLAMA, model: 'nomic', isPrivate: true },
    ],
    ['one at the server of the file', { baseUrl: OLLAMA, key, models: [EMBED] }, keyed(OLLAMA)],
    ['one with its own key', { models: [{ id: 'a' }, { ...EMBED, key }] }, keyed(OPENAI)],
  ])('%s', async (_, config, embedding) => {
    const { env, folder } = newConfig(config);
    writeFileSync(join(folder, 'key'), 'mine\n', { mode: 0o600 });
    const settings = await readSettings(env);
    expect(settings.embedding).toEqual(embedding);
    const { signal } = new AbortController();
    expect(await settings.embedding?.readKey?.(signal)).toBe(settings.embedding?.readKey && 'mine');
  });
});

describe('the order of places', () => {
  const config = { mode: 'plan', preset: 'ask', updateHint: false, server: { port: 1 } };
  const variables = {
    DRAWBRIDGE_MODE: 'ask',
    DRAWBRIDGE_PRESET: 'read-only',
    DRAWBRIDGE_PORT: '2',
  };
  const flags = { mode: 'debug', preset: 'trusted', port: 3 } as const;

  test.each([
    ['default', {}, {}, {}, ['agent', 'workspace', 8787]],
    ['file', config, {}, {}, ['plan', 'ask', 1]],
    ['environment', config, variables, {}, ['ask', 'read-only', 2]],
    ['option', config, variables, flags, ['debug', 'trusted', 3]],
  ])('%s', async (from, file, environment, options, expected) => {
    const { env, path } = newConfig(file);
    const settings = await readSettings({ ...env, ...environment }, options);
    const { mode, preset, port, shown } = settings;
    expect([mode, preset, port]).toEqual(expected);
    const names = {
      option: '--port',
      environment: 'DRAWBRIDGE_PORT',
      file: path,
      default: undefined,
    };
    const name = names[from as keyof typeof names];
    expect(shown.get('server.port')?.origin).toEqual({ from, ...(name && { name }) });
  });

  test.each([
    ['DRAWBRIDGE_MODE', 'No Mode'],
    ['DRAWBRIDGE_PRESET', 'all'],
    ['DRAWBRIDGE_PORT', '65536'],
  ])('%s=%s is refused', async (name, value) => {
    const { env } = newConfig();
    await expect(readSettings({ ...env, [name]: value })).rejects.toThrow(
      `The variable ${name} must be`,
    );
  });
});

test('what is shown has no key and no password', async () => {
  const { env } = newConfig({ models: [{ id: 'a', key: MY_KEY }] });
  const variables = {
    OPENAI_BASE_URL: 'https://me:secret@a.test/v1?key=secret',
    OPENAI_API_KEY: 'secret',
  };
  for (const more of [{}, variables]) {
    const { shown } = await readSettings({ ...env, MY_KEY: 'secret', ...more });
    expect(JSON.stringify([...shown])).not.toContain('secret');
  }
});

test.each<[SettingName, unknown, boolean]>([
  ['key', MY_KEY, false],
  ['model', 'demo', true],
  ['baseUrl', OLLAMA, true],
  ['models', [{ id: 'a', baseUrl: OLLAMA }], true],
])('a file with %s has chosen a model: %#', async (name, value, expected) => {
  const { env } = newConfig({ [name]: value });
  expect((await readSettings(env)).isModelChosen).toBe(expected);
});

describe('a file that is not right is refused', () => {
  const EMBED = { id: 'v', roles: ['embed'] };
  const VECTORS = { ...EMBED, dialect: 'anthropic', key: { file: 'k' } };
  const NO_KEY = /models\[1\]\.key: the bridge reads the key of the role "embed"/;
  const misspelt = (wrong: string, meant: string) =>
    `${wrong}: there is no such setting. Did you mean ${meant}?`;

  test.each<[unknown, RegExp | string]>([
    ['{"model": "a",}', /config\.json, line 1, column 15: a comma stands before }: remove it\.$/],
    [[], /expected object/],
    [{ mdoel: 'a' }, misspelt('mdoel', 'model')],
    [{ server: { prot: 1 } }, misspelt('server.prot', 'server.port')],
    [{ port: 1 }, misspelt('port', 'server.port')],
    [{ apiKey: 'sk-1234' }, misspelt('apiKey', 'key')],
    [{ models: [{ id: 'a', keyName: 'X' }] }, /keyName: .* Did you mean models\[0\]\.key\?$/],
    [{ wholly: 1 }, /wholly: there is no such setting\. The settings here are model, baseUrl, /],
    [{ key: 'sk-1234' }, /key: a key is never written into this file: say where it is kept, /],
    [{ key: { evn: 'A' } }, /key: must say where the key is kept: /],
    [{ key: { command: [] } }, /key\.command: must name a program$/],
    [{ baseUrl: 'no url' }, /baseUrl: must be an http\(s\) URL/],
    [{ baseUrl: 'localhost:11434' }, /baseUrl: must be an http\(s\) URL/],
    [{ baseUrl: 'https://me:pw@a.test/v1' }, /baseUrl: must hold no password/],
    [{ models: [{ id: 'a' }, { id: 'a' }] }, /models\[1\]\.id: there are two models a$/],
    [
      { models: [{ id: 'a', dialect: 'anthropic' }] },
      /models\[0\]\.key: must say where the key of Anthropic is kept$/,
    ],
    [{ models: [{ id: 'a', roles: ['fast'] }] }, /models: no model of the table answers messages/],
    [{ models: [{ id: 'a' }], model: 'b' }, /model: must be a chat model of the table: a$/],
    [{ models: [{ id: 'a' }, { ...EMBED, key: { env: 'V' } }] }, NO_KEY],
    [{ key: { env: 'MINE' }, models: [{ id: 'a' }, EMBED] }, NO_KEY],
    [{ models: [{ id: 'a' }, EMBED] }, NO_KEY],
    [{ models: [{ id: 'a' }, VECTORS] }, /models\[1\]\.dialect: Anthropic has no vectors/],
    [{ mode: 'No' }, /mode: must be agent, plan, ask, debug, or/],
    [{ preset: 'all' }, /preset: .*"read-only"/],
    [{ server: { port: 65_536 } }, /server\.port: must be a number from 0 to 65535$/],
    [{ server: { allowedOrigins: ['a.test'] } }, /server\.allowedOrigins\[0\]: must be an origin/],
    [
      { server: { promptBlocks: [{ change: 'omit', block: 'trust' }] } },
      /promptBlocks\[0\]\.block: trust can only/,
    ],
  ])('%j', async (config, message) => {
    const { env, path } = newConfig(config);
    const error = await readSettings(env).catch((thrown) => thrown);
    expect(error).toMatchObject({ name: 'LocalError', kind: 'refused' });
    expect(error.message).toMatch(message);
    expect(error.message).toContain(path);
    expect(error.message).not.toContain('sk-1234');
  });

  test('a folder in its place', async () => {
    const { env, path } = newConfig();
    mkdirSync(path);
    await expect(readSettings(env)).rejects.toThrow(`${path} is no file: move it away`);
  });

  test('a file in the place of its folder', async () => {
    const { env, folder } = newConfig();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    await expect(readSettings(env)).rejects.toThrow('lies below something that is no folder');
  });

  test.skipIf(process.getuid?.() === 0)('a file that may not be read', async () => {
    const { env, path } = newConfig({});
    chmodSync(path, 0o200);
    await expect(readSettings(env)).rejects.toThrow(`${path} may not be read`);
  });

  test('a file that all may change, also for root', async () => {
    const { env, path } = newConfig({});
    chmodSync(path, 0o666);
    await expect(readSettings(env)).rejects.toThrow(`Every user may change ${path}: run`);
  });

  test.each([
    ['the folder of the file', ['config', 'drawbridge'], 0o777, true],
    ['a folder above', ['config'], 0o777, true],
    ['the folder that the file is a link into', ['target'], 0o777, true],
    ['a folder above, which is sticky', ['config'], 0o1777, false],
    ['no folder', ['config'], 0o755, false],
  ])('where every user may change %s', async (_, names, mode, isRefused) => {
    const base = temporaryFolder();
    const [folder, target] = [join(base, 'config', 'drawbridge'), join(base, 'target')];
    for (const each of [folder, target]) mkdirSync(each, { recursive: true });
    writeFileSync(join(target, 'config.json'), '{}', { mode: 0o600 });
    symlinkSync(join(target, 'config.json'), join(folder, 'config.json'));
    chmodSync(join(base, ...names), mode);
    const read = readSettings({ XDG_CONFIG_HOME: join(base, 'config') });
    const failure = `Every user may change ${join(base, ...names)}: run \`chmod go-w`;
    if (isRefused) await expect(read).rejects.toThrow(failure);
    else await read;
  });

  test.runIf(process.getuid?.() === 0)('a file that another group may change', async () => {
    const { env, path } = newConfig({});
    chownSync(path, 0, 1234);
    chmodSync(path, 0o660);
    await expect(readSettings(env)).rejects.toThrow(`A group of users may change ${path}: run`);
  });
});

test('a byte order mark before the text is no mistake', async () => {
  const { env } = newConfig('\uFEFF{"mode": "plan"}');
  expect((await readSettings(env)).mode).toBe('plan');
});

test('without a file or a home folder the defaults hold', async () => {
  const { env, folder } = newConfig();
  rmSync(join(folder), { recursive: true });
  expect((await readSettings(env)).mode).toBe('agent');
});
