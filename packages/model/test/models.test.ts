import { expect, it } from 'vitest';
import { ModelList } from '../../../shared/api/listings.ts';
import {
  listModels,
  type ModelEnv,
  modelForRole,
  privateSettings,
  readTable,
  resolveModel,
  resolveTarget,
} from '../models.ts';

const PRICES = { input: 0.15, cachedInput: 0.05, output: 0.6 };

const TABLE = [
  {
    id: 'fast',
    baseUrl: 'https://fast.test/v1/',
    keyName: 'FAST_KEY',
    upstreamId: 'vendor/fast-8b',
    contextWindow: 131_072,
    maxOutputTokens: 8_000,
    prices: PRICES,
    takesImages: false,
    fallbacks: ['big'],
    switches: { streamOptions: false, parallelToolCalls: false },
  },
  { id: 'vectors', roles: ['embed'] },
  { id: 'big' },
  { id: 'own', baseUrl: 'http://own.test/v1' },
];

/** With the secret that the table names, which no type knows of. */
function envOf(more: object = {}, table: unknown = TABLE): ModelEnv {
  const settings = { MODELS: JSON.stringify(table), OPENAI_API_KEY: 'sk-openai', FAST_KEY: 'k' };
  return { ...settings, ...more };
}

it('a model of the table goes to its server, by its name there, with its key and its switches', () => {
  expect(resolveTarget('fast', envOf())).toEqual({
    kind: 'server',
    dialect: 'chat',
    baseUrl: 'https://fast.test/v1',
    apiKey: 'k',
    upstreamId: 'vendor/fast-8b',
    takesImages: false,
    contextWindow: 131_072,
    maxOutputTokens: 8_000,
    prices: { ...PRICES, currency: 'USD' },
    switches: {
      streamOptions: false,
      maxTokensField: 'max_tokens',
      systemRole: 'system',
      roles: 'any',
      callIds: 'any',
      parallelToolCalls: false,
      thinkTags: true,
      reasoningField: 'none',
      cacheControl: false,
      returnReasoning: true,
    },
    secrets: ['sk-openai', 'k'],
  });
});

it.each([
  ['big', {}, 'https://api.openai.com/v1', 'sk-openai'],
  ['big', { OPENAI_BASE_URL: 'http://gate.test/v1' }, 'http://gate.test/v1', 'sk-openai'],
  ['own', {}, 'http://own.test/v1', null],
  ['own', { OPENAI_BASE_URL: 'http://gate.test/v1' }, 'http://own.test/v1', null],
])(
  'a model of the table %s with %o has its server, and no key of another one',
  (model, more, baseUrl, apiKey) => {
    expect(resolveTarget(model, envOf(more))).toMatchObject({ baseUrl, apiKey });
  },
);

it.each([
  [{}, 'https://api.anthropic.com/v1'],
  [{ baseUrl: 'http://claude.test/v1/' }, 'http://claude.test/v1'],
])(
  'a model of the table of Anthropic (%o) has its own server and never the key of OpenAI',
  (own, baseUrl) => {
    const table = [{ id: 'claude', dialect: 'anthropic', keyName: 'FAST_KEY', ...own }];
    const env = envOf({ OPENAI_BASE_URL: 'http://gate.test/v1' }, table);
    expect(resolveTarget('claude', env)).toMatchObject({
      dialect: 'anthropic',
      baseUrl,
      apiKey: 'k',
    });
    const keyless = [{ id: 'claude', dialect: 'anthropic', baseUrl: 'http://claude.test/v1' }];
    expect(resolveTarget('claude', envOf({}, keyless))).toMatchObject({ apiKey: null });
  },
);

it('a model of the table without the secret that it names is not configured, and the others are', () => {
  const env = envOf({ FAST_KEY: '' });
  expect(() => resolveModel('fast', env)).toThrow(
    expect.objectContaining({
      code: 'NOT_CONFIGURED',
      message: 'MODELS: the key of fast is missing: set the secret FAST_KEY',
    }),
  );
  expect(resolveModel('big', env)).toBe('big');
});

it.each(['other', 'vectors'])('beside a table, %s is unknown', (model) => {
  expect(() => resolveModel(model, envOf())).toThrow(
    expect.objectContaining({
      code: 'UNKNOWN_MODEL',
      message: `model: nothing here answers as ${model}: name one of fast, big, own`,
    }),
  );
});

it('beside a table, other names pass through to a base URL that is set', () => {
  const env = envOf({ OPENAI_BASE_URL: 'http://gate.test/v1', TEXT_ONLY_MODELS: 'other' });
  expect(resolveModel('other', env)).toBe('other');
  expect(resolveTarget('other', env)).toMatchObject({
    baseUrl: 'http://gate.test/v1',
    upstreamId: 'other',
    takesImages: false,
  });
});

it.each([
  [{}, 'fast'],
  [{ OPENAI_MODEL: 'big' }, 'big'],
])('beside a table, a request without a model gets, with %o, %s', (more, model) => {
  expect(resolveModel(undefined, envOf(more))).toBe(model);
});

it.each([
  ['embed', 'vectors'],
  ['chat', 'fast'],
  ['summary', 'big'],
] as const)('the role %s belongs to %s', (role, model) => {
  expect(modelForRole(role, 'big', envOf())).toBe(model);
});

it("without a table, the run's own model has every role", () => {
  expect(modelForRole('fast', 'any', { OPENAI_BASE_URL: 'http://gate.test/v1' })).toBe('any');
});

it('lists the table with what is known of its models', () => {
  const list = listModels(envOf());
  expect(list).toEqual({
    items: [
      {
        id: 'fast',
        isDefault: true,
        takesImages: false,
        roles: ['chat'],
        contextWindow: 131_072,
        prices: { ...PRICES, currency: 'USD' },
      },
      { id: 'vectors', isDefault: false, takesImages: true, roles: ['embed'] },
      { id: 'big', isDefault: false, takesImages: true, roles: ['chat'] },
      { id: 'own', isDefault: false, takesImages: true, roles: ['chat'] },
    ],
    passesThrough: false,
  });
  expect(ModelList.parse(list)).toEqual(list);
});

it('lists the default that passes through behind the table', () => {
  const env = envOf({ OPENAI_BASE_URL: 'http://gate.test/v1', OPENAI_MODEL: 'other' }, [
    { id: 'big' },
  ]);
  expect(listModels(env)).toEqual({
    items: [
      { id: 'big', isDefault: false, takesImages: true, roles: ['chat'] },
      { id: 'other', isDefault: true, takesImages: true },
    ],
    passesThrough: true,
  });
});

it.each<[unknown, string]>([
  ['{', 'MODELS: must be a JSON list'],
  [{}, 'MODELS: '],
  [[], 'MODELS: '],
  [[{}], 'MODELS[0].id: '],
  [[{ id: 'a', baseURL: 'https://x.test' }], 'MODELS[0].baseURL: There is no such field'],
  [[{ id: 'a', baseUrl: 'ftp://x.test' }], 'MODELS[0].baseUrl: must be an http(s) URL'],
  [[{ id: 'a', keyName: 'sk-secret' }], 'MODELS[0].keyName: must be the name of a secret'],
  [[{ id: 'a', keyName: 'AUTH_SECRET' }], 'MODELS[0].keyName: AUTH_SECRET is no key'],
  [[{ id: 'a', prices: { input: -1, output: 1 } }], 'MODELS[0].prices.input: '],
  [[{ id: 'a', switches: { maxTokensField: 'max' } }], 'MODELS[0].switches.maxTokensField: '],
  [[{ id: 'a', dialect: 'claude' }], 'MODELS[0].dialect: '],
  [[{ id: 'a', dialect: 'anthropic' }], 'MODELS[0].keyName: must name the secret'],
  [
    [{ id: 'a', switches: { thinking: 'adaptive' } }],
    'MODELS[0].switches.thinking: needs the dialect anthropic',
  ],
  [
    [{ id: 'a', switches: { thinking: 100 } }],
    'MODELS[0].switches.thinking: must be "adaptive" or a number of tokens from 1024',
  ],
  [
    [
      {
        id: 'a',
        dialect: 'anthropic',
        keyName: 'K',
        maxOutputTokens: 2_000,
        switches: { thinking: 2_000 },
      },
    ],
    'MODELS[0].switches.thinking: must be less than maxOutputTokens',
  ],
  [[{ id: 'a' }, { id: 'a' }], 'MODELS[1].id: there are two models a'],
  [[{ id: 'a', fallbacks: ['a'] }], 'MODELS[0].fallbacks[0]: must be another chat model'],
  [[{ id: 'a', fallbacks: ['b'] }], 'MODELS[0].fallbacks[0]: must be another chat model'],
  [
    [
      { id: 'a', fallbacks: ['b'] },
      { id: 'b', roles: ['embed'] },
    ],
    'MODELS[0].fallbacks[0]: must be another chat model',
  ],
  [[{ id: 'a', fallbacks: ['b', 'b'] }, { id: 'b' }], 'MODELS[0].fallbacks[1]: '],
])('a bad table is not configured, and says where %o', (table, message) => {
  const MODELS = typeof table === 'string' ? table : JSON.stringify(table);
  for (const use of [listModels, (env: ModelEnv) => resolveModel(undefined, env)]) {
    expect(() => use({ MODELS })).toThrow(
      expect.objectContaining({
        code: 'NOT_CONFIGURED',
        message: expect.stringContaining(message),
      }),
    );
  }
});

it('a private conversation finds only models that keep nothing, without other tasks and fallbacks', () => {
  const own = { baseUrl: 'http://own.test/v1' };
  const table = [
    { id: 'open', ...own, roles: ['chat', 'fast', 'summary'] },
    { id: 'kept', ...own, isPrivate: true, fallbacks: ['open', 'spare'] },
    { id: 'spare', ...own, isPrivate: true, roles: ['chat', 'fast', 'summary'] },
  ];
  const env = privateSettings(envOf({ OPENAI_MODEL: 'open' }, table));
  expect(resolveModel(undefined, env)).toBe('kept');
  expect(resolveTarget('kept', env)).toMatchObject({ switches: { store: false } });
  expect(readTable(env)?.map(({ id, fallbacks }) => [id, fallbacks])).toEqual([
    ['kept', ['spare']],
    ['spare', []],
  ]);
  for (const role of ['fast', 'summary'] as const) expect(modelForRole(role, null, env)).toBe(null);
  for (const model of ['open', 'unknown']) {
    expect(() => resolveModel(model, env)).toThrow('name one of kept, spare');
  }
  const passing = { OPENAI_BASE_URL: 'http://gate.test/v1', PRIVATE_MODELS: '*' };
  const gate = privateSettings(envOf(passing, table));
  expect(() => resolveModel('open', gate)).toThrow('keep nothing');
  expect(resolveTarget('other', gate)).toMatchObject({
    baseUrl: 'http://gate.test/v1',
    switches: { store: false },
  });
  const named = privateSettings(envOf({ ...passing, PRIVATE_MODELS: 'a, b' }, table));
  expect(resolveModel('b', named)).toBe('b');
  expect(() => resolveModel('c', named)).toThrow('keep nothing');
  expect(resolveTarget('any', privateSettings({}))).toMatchObject({ kind: 'demo' });
});
