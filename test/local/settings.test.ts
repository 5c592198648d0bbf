import { describe, expect, test } from 'vitest';
import { modelVariables, readModelSettings, readWorkerSettings } from '../../local/settings.ts';

const OPENAI = 'https://api.openai.com/v1';
const OLLAMA = 'http://localhost:11434/v1';

/** What the user has set, and what the Worker is given. */
const ENVIRONMENTS: [NodeJS.ProcessEnv, Record<string, string>][] = [
  [{}, {}],
  [{ OPENAI_BASE_URL: '', OPENAI_API_KEY: '' }, {}],
  [{ OPENAI_MODEL: 'alone' }, {}],
  [{ OPENAI_API_KEY: 'key' }, { OPENAI_BASE_URL: OPENAI, OPENAI_API_KEY: 'key' }],
  [{ OPENAI_BASE_URL: OLLAMA }, { OPENAI_BASE_URL: OLLAMA }],
  [
    { OPENAI_BASE_URL: OLLAMA, OPENAI_API_KEY: 'key', OPENAI_MODEL: 'qwen' },
    { OPENAI_BASE_URL: OLLAMA, OPENAI_API_KEY: 'key', OPENAI_MODEL: 'qwen' },
  ],
];

const TABLE = JSON.stringify([
  { id: 'vectors', roles: ['embed'] },
  { id: 'fast', baseUrl: 'https://fast.test/v1', keyName: 'FAST_KEY' },
  { id: 'big' },
]);

describe('the environment names the model', () => {
  test.each(ENVIRONMENTS)('%o becomes %o', (env, variables) => {
    expect(modelVariables(readModelSettings(env))).toEqual(variables);
  });

  test.each(['localhost:11434', 'file:///etc/passwd', 'nonsense'])('%s is no base URL', (url) => {
    expect(() => readModelSettings({ OPENAI_BASE_URL: url })).toThrow(/OPENAI_BASE_URL must be/);
  });
});

describe('a table of models', () => {
  const env = { MODELS: TABLE, FAST_KEY: 'f', OPENAI_API_KEY: 'key', OTHER_KEY: 'o' };

  test('goes to the Worker with the keys that it names, and with nothing else', () => {
    expect(modelVariables(readModelSettings(env))).toEqual({
      MODELS: TABLE,
      FAST_KEY: 'f',
      OPENAI_API_KEY: 'key',
    });
  });

  test.each([
    [{}, 'fast'],
    [{ OPENAI_MODEL: 'big' }, 'big'],
  ])('answers with %o by %s', (more, model) => {
    expect(readModelSettings({ ...env, ...more })).toMatchObject({
      kind: 'table',
      models: ['fast', 'big'],
      model,
    });
  });

  test.each([
    [{ MODELS: '[{}]' }, /MODELS\[0\]\.id: /],
    [{ MODELS: TABLE, FAST_KEY: '' }, /MODELS names the key FAST_KEY, which is not set/],
    [{ MODELS: '[{"id": "a", "roles": ["fast"]}]' }, /no model that answers .* the role "chat"/],
    [{ OPENAI_BASE_URL: 'nonsense' }, /OPENAI_BASE_URL must be/],
  ])('with %o is refused at the start', (more, message) => {
    expect(() => readModelSettings({ ...env, ...more })).toThrow(message);
  });
});

describe('changes of the prompt', () => {
  test('go to the Worker as they are', () => {
    const changes = JSON.stringify([{ change: 'omit', block: 'asking' }]);
    expect(readWorkerSettings({ PROMPT_BLOCKS: changes })).toEqual({ PROMPT_BLOCKS: changes });
    expect(readWorkerSettings({ PROMPT_BLOCKS: '' })).toEqual({});
  });

  test('are refused at the start where they are wrong', () => {
    const settings = { PROMPT_BLOCKS: '[{"change": "omit", "block": "trust"}]' };
    expect(() => readWorkerSettings(settings)).toThrow(/PROMPT_BLOCKS\[0\]\.block: trust can only/);
  });
});

describe('the tokens of the metrics', () => {
  test.each(['a-token-of-16-ch', 'a-token-of-16-ch  another-of-16-chars'])('%s', (tokens) => {
    expect(readWorkerSettings({ METRICS_TOKEN: tokens })).toEqual({ METRICS_TOKEN: tokens });
  });

  test.each(['a-token-of-15-c', 'a-token-of-16-ch short'])(
    '%s is refused at the start, without quoting it',
    (tokens) => {
      const read = () => readWorkerSettings({ METRICS_TOKEN: tokens });
      expect(read).toThrow(/^Each token in METRICS_TOKEN needs 16 characters or more: `openssl /);
      expect(read).not.toThrow(tokens);
    },
  );
});

describe('the origins that webhooks may go to', () => {
  test.each(['http://127.0.0.1:9000', 'http://a.test/, https://b.test:8443'])('%s', (origins) => {
    const settings = { WEBHOOK_ORIGINS: origins };
    expect(readWorkerSettings(settings)).toEqual(settings);
  });

  test.each(['127.0.0.1:9000', 'http://a.test/hook', 'ftp://a.test', 'http://a.test,'])(
    '%s is refused at the start',
    (origins) => {
      const read = () => readWorkerSettings({ WEBHOOK_ORIGINS: origins });
      expect(read).toThrow(/WEBHOOK_ORIGINS must list origins such as http/);
    },
  );
});
