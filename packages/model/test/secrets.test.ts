import { describe, expect, it, vi } from 'vitest';
import { streamOf } from '../../../test/far-ends/reply-script.ts';
import { askModel, type GatewayAnswer } from '../gateway.ts';
import { resolveTarget } from '../models.ts';
import { withoutSecrets } from '../secrets.ts';

const KEY = 'sk-proj-Ab3dEfGh1jKlMn0pQrStUv/Wx+Yz==';
const OTHER = 'gsk_0therPr0v1dersKeyThatIsNotUsedHere';
const SECRET = 'c2lnbmluZy1zZWNyZXQtb2YtdGhlLXNlcnZlcg';
const ENV = {
  OPENAI_BASE_URL: 'http://user:p4ss%20w0rdOfProxy@model.test/v1?token=queryT0kenValue',
  OPENAI_API_KEY: KEY,
  AUTH_SECRET: SECRET,
  MODELS: JSON.stringify([
    { id: 'fast', baseUrl: 'http://other.test/v1', keyName: 'GROQ_API_KEY' },
  ]),
  GROQ_API_KEY: OTHER,
};

/** How a server writes a key into its words. */
const WRITINGS: Readonly<Record<string, (key: string) => string>> = {
  'as it is': (key) => key,
  'in capitals': (key) => key.toUpperCase(),
  percent: (key) => encodeURIComponent(key),
  'percent all over': (key) => key.replace(/./gs, (char) => `%${hexOf(char)}`),
  hexadecimal: (key) => key.replace(/./gs, hexOf),
  base64: (key) => btoa(key),
  'the base64 of a header': (key) => btoa(`Bearer ${key}`),
  'the base64 of a pair': (key) => btoa(`x:${key}:y`),
  'base64 for addresses': (key) => btoa(key).replaceAll('+', '-').replaceAll('/', '_'),
  JSON: (key) => JSON.stringify({ key }).replaceAll('/', '\\/'),
  'JSON in JSON': (key) => JSON.stringify(JSON.stringify({ key })),
  'JSON escapes': (key) => key.replace(/./gs, (char) => `\\u00${hexOf(char)}`),
  'its first half': (key) => key.slice(0, key.length / 2),
  'its second half': (key) => key.slice(key.length / 2),
  'eight of its letters': (key) => key.slice(9, 17),
  'as words': (key) => Array.from(key).join(' '),
  'a mask': (key) => `${key.slice(0, 5)}***${key.slice(-4)}`,
  "OpenAI's mask": (key) => `${key.slice(0, 8)}${'*'.repeat(20)}${key.slice(-4)}.`,
  'a mask of dots': (key) => `${key.slice(0, 5)}...${key.slice(-5)}`,
};

const KEYS = {
  used: KEY,
  other: OTHER,
  signing: SECRET,
  password: 'p4ss w0rdOfProxy',
  query: 'queryT0kenValue',
};

describe.each(Object.entries(WRITINGS))('a key that a server writes as %s', (_, write) => {
  it.each(Object.entries(KEYS))('is not shown: %s', async (__, key) => {
    for (const status of [400, 404, 429, 500]) {
      const message = await messageOf(`This went wrong for ${write(key)} at noon`, status);
      expect(message).not.toContain(write(key));
      expect(sharedWith(message, key)).toEqual([]);
      expect(message).toContain('went wrong');
    }
  });
});

it.each([
  [401, 'Incorrect API key provided: sk-pr**Yz'],
  [403, 'No'],
  [400, 'Your api_key ends in Yz=='],
  [400, 'The authorization header begins with sk-'],
  [500, 'Bearer x is unknown'],
])('an error about keys (HTTP %s, %s) is sent in our words only', async (status, said) => {
  expect(await messageOf(said, status)).toBe(
    `The model server refuses access with the configured key (HTTP ${status}): it must be valid there for this model. \`drawbridge config model\` on the server's machine sets another.`,
  );
});

it('an error about keys is sent in our words inside a stream too', async () => {
  vi.spyOn(globalThis, 'fetch').mockResolvedValue(
    streamOf([`data: {"error":{"message":"invalid api key ${KEY}","code":"invalid_api_key"}}\n\n`]),
  );
  expect((await askFor()).reply.error?.message).toBe(
    "The model server refuses access with the configured key: it must be valid there for this model. `drawbridge config model` on the server's machine sets another.",
  );
});

it('a key of no one here is not shown either', () => {
  for (const token of [
    'AIzaSyD-abc123',
    'ghp_abcdef',
    'org-9f8e7d6c5b4a3f2e1d',
    'eyJhbGciOi.e30.x',
  ]) {
    expect(withoutSecrets(`No quota for ${token}.`, [])).toBe('No quota for [removed]');
  }
});

it.each([
  "model 'qwen3-coder:30b' not found, try pulling it first",
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  'Rate limit reached for gpt-5.2-2026-01-15 on tokens per min (TPM): Limit 30000, Used 29000.',
  'This model does not support tools',
  'messages.3.content.0.text: field required',
])('what helps is shown: %s', async (words) => {
  expect(await messageOf(words, 400)).toBe(words);
});

it('why a connection failed is for the log, without secrets', async () => {
  const address = `http://user:p4ss%20w0rdOfProxy@model.test/v1?key=${KEY}`;
  vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError(`cannot reach ${address} now`));
  expect((await askFor()).unreached).toBe('TypeError: cannot reach [removed] now');
});

async function messageOf(said: string, status: number): Promise<string | undefined> {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () =>
    Response.json({ error: { message: said } }, { status }),
  );
  return (await askFor()).reply.error?.message;
}

async function askFor(): Promise<GatewayAnswer> {
  const target = resolveTarget('big', ENV);
  const request = { model: 'big', messages: [{ role: 'user' as const, content: 'hi' }], tools: [] };
  return await askModel(target, request, () => undefined, new AbortController().signal);
}

/** The runs of six letters and digits that the text has of the key. */
function sharedWith(text: string | undefined, key: string): string[] {
  const plain = (text ?? '').toLowerCase().replace(/[^a-z0-9]/g, '');
  const letters = key.toLowerCase().replace(/[^a-z0-9]/g, '');
  const parts = Array.from({ length: letters.length - 5 }, (_, at) => letters.slice(at, at + 6));
  return parts.filter((part) => plain.includes(part));
}

function hexOf(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(2, '0');
}
