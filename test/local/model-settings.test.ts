import { describe, expect, test } from 'vitest';
import { modelVariables, readModelSettings } from '../../local/model-settings.ts';

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

describe('the environment names the model', () => {
  test.each(ENVIRONMENTS)('%o becomes %o', (env, variables) => {
    expect(modelVariables(readModelSettings(env))).toEqual(variables);
  });

  test.each(['localhost:11434', 'file:///etc/passwd', 'nonsense'])('%s is no base URL', (url) => {
    expect(() => readModelSettings({ OPENAI_BASE_URL: url })).toThrow(/OPENAI_BASE_URL must be/);
  });
});
