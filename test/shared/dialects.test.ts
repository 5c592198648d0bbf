import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  ModelDialect,
  PROVIDERS,
  type Provider,
  serverOf,
} from '../../shared/settings/dialects.ts';

const OPENAI = new Set(['https://api.openai.com/v1', 'http://gate.test/v1']);

describe.each(ModelDialect.options)('an entry of the dialect %s', (dialect) => {
  it.each([{}, { OPENAI_BASE_URL: 'http://gate.test/v1' }])(
    'gets the key of OpenAI only for the server of OpenAI, with %o',
    (env) => {
      const { settings, baseUrl } = PROVIDERS[dialect];
      const standard = serverOf({ dialect }, env);
      expect(standard.keyName).toBe(OPENAI.has(standard.baseUrl) ? 'OPENAI_API_KEY' : undefined);
      expect(standard.baseUrl).toBe((settings && env.OPENAI_BASE_URL) ?? baseUrl);
      const own = { baseUrl: 'http://own.test', keyName: 'K' };
      expect(serverOf({ dialect, ...own }, env)).toEqual(own);
      expect(serverOf({ dialect, baseUrl: own.baseUrl }, env).keyName).toBeUndefined();
      expect(serverOf({ dialect, keyName: 'K' }, env)).toEqual({ ...standard, keyName: 'K' });
    },
  );
});

it('no other provider can have the settings of OpenAI', () => {
  const other = {
    name: 'other',
    title: 'Other',
    baseUrl: 'https://other.test/v1',
    settings: { baseUrl: 'OPENAI_BASE_URL', key: 'OPENAI_API_KEY' },
    headers: () => ({}),
    takesThinking: false,
    makesVectors: false,
  } as const;
  expectTypeOf(other).not.toExtend<Provider>();
  expectTypeOf({ ...other, baseUrl: 'https://api.openai.com/v1' } as const).toExtend<Provider>();
});
