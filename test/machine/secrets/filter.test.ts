import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import {
  maskIn,
  maskInValue,
  maskOf,
  maskSecrets,
  maskValue,
  SecretFilter,
} from '../../../machine/secrets/filter.ts';
import { TOKEN_KINDS } from '../../../machine/secrets/kinds.ts';
import { AROUND, expectSameAtEveryCut, UNSEEN } from './cuts.ts';
import { allTokens, made, privateKeys, SHOWN, withChecksum } from './samples.ts';

test('each kind has a source and characters, and one that is shorter than its mask is none', () => {
  expect(TOKEN_KINDS.filter(({ source }) => source === '')).toEqual([]);
  const long = allTokens().filter(({ kind, secret }) => maskOf(kind).length > secret.length);
  expect(long.map(({ kind }) => kind)).toEqual([]);
});

test.each(allTokens())('masks a $kind', ({ kind, shown, secret }) => {
  for (const [before, after] of AROUND) {
    const text = `a ${before}${shown}${secret}${after}`;
    expect(maskSecrets(text)).toBe(`a ${before}${shown}${maskOf(kind)}${after}`);
  }
});

/** Each token has a few of the surroundings, and each surrounding many tokens; filter.deep.ts has all with all. */
const NUMBERED = allTokens().map((token, nth) => ({ ...token, nth }));

test.each(NUMBERED)('masks a $kind at every cut of a text', ({ secret, shown, nth }) => {
  for (const [before, after] of everyNth(AROUND, 16, nth)) {
    expectSameAtEveryCut(`ok ${before}${shown}${secret}${after} end sk-or-x`);
  }
});

test.each(NUMBERED)(
  'masks a $kind whatever stands unseen within',
  ({ kind, shown, secret, nth }) => {
    for (const unseen of everyNth(UNSEEN, 6, nth)) {
      for (let at = 1 + (nth % 3); at < secret.length; at += 7) {
        const text = `a ${shown}${secret.slice(0, at)}${unseen}${secret.slice(at)} b`;
        expect(maskSecrets(text)).toBe(`a ${shown}${maskOf(kind)}${unseen} b`);
      }
    }
    const unseen = UNSEEN[nth % UNSEEN.length] ?? '';
    const half = secret.length >> 1;
    const split = `${secret.slice(0, half)}${unseen}${secret.slice(half)}`;
    if (nth % 4 === 0) expectSameAtEveryCut(`ok ${shown}${unseen}${split}${unseen}word`);
  },
);

test('the end of a colour ends a token, and a damaged sequence hides none', () => {
  const id = `AKIA${made('<U8>').replaceAll(/[0189]/g, 'A')}ZKMPWVTC`;
  const mask = maskOf('AWS key id');
  for (const [text, shown] of [
    [`\x1b[31m${id}\x1b[0mabc`, `\x1b[31m${mask}\x1b[0mabc`],
    [`\x1b[31m${id}\x1b[0mDEF\x1b[1mGHI`, `\x1b[31m${mask}\x1b[0mDEF\x1b[1mGHI`],
    [`\x1b[${id}`, `\x1b[${mask}`],
    [`\x1b[1;${id}`, `\x1b[1;${mask}`],
    [`\x1b${id}`, `\x1b${mask}`],
    [`\x1b]${id}`, `\x1b]${mask}`],
    [`\x1b]8;;${'a'.repeat(5_000)} ${id}\x07`, `\x1b]8;;${'a'.repeat(5_000)} ${mask}\x07`],
    [`\x1b[${'1'.repeat(300)}m ${id}`, `\x1b[${'1'.repeat(300)}m ${mask}`],
  ] as const) {
    expect(maskSecrets(text)).toBe(shown);
    if (text.length < 1_000) expectSameAtEveryCut(text);
  }
});

describe('a key whose first line is missing', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const key = String(rsa.export({ format: 'pem', type: 'pkcs8' }));
  const all = key.trimEnd().split('\n');

  test.each([
    ['as it is', (line: string) => line],
    ['of Windows', (line: string) => `${line}\r`],
    ['found by grep', (line: string, at: number) => `notes.txt-${at}-${line}`],
    ['with numbers', (line: string, at: number) => `${String(at).padStart(6)}\t${line}`],
    ['added', (line: string) => `+${line}`],
    ['in colours', (line: string) => `\x1b[32m+\x1b[m\x1b[32m${line}\x1b[m`],
  ])('is masked up to its last line, %s', (_, show) => {
    for (const from of [1, 4, 20]) {
      const text = `${all.slice(from).map(show).join('\n')}\nafter\n`;
      const shown = maskSecrets(text);
      for (const line of all.slice(from, -1)) {
        if (line.length > 20) expect(shown).not.toContain(line.slice(20));
      }
      expect(shown).toMatch(/\nafter\n$/);
      expect(shown.split('\n')).toHaveLength(text.split('\n').length);
      if (from > 1) expectSameAtEveryCut(text);
    }
  });

  test('stays where no last line of a private key follows', () => {
    const lines = all.slice(1, -1).join('\n');
    for (const text of [
      `${lines}\n`,
      `${lines}\n-----END CERTIFICATE-----\n`,
      `${lines}\n\n-----END PRIVATE KEY-----\n`,
      `${'A'.repeat(64)}\n-----END PRIVATE KEY-----\n`,
      `-----BEGIN PRIVATE KEY-----\n${'x'.repeat(30)}${made('<b34>')}\n-----END PRIVATE KEY-----\n`,
    ]) {
      expect(maskSecrets(text)).toBe(text);
      expectSameAtEveryCut(text);
    }
  });
});

describe.each(privateKeys().map(([name, key], nth) => [name, key, nth] as const))(
  'a private key: %s',
  (_, key, nth) => {
    it.each(SHOWN)('is masked %s, whole or cut', (_form, show) => {
      const text = `before\n${show(key)}after ${'word '.repeat(10)}\n`;
      const shown = maskSecrets(text);
      expect(shown).toContain(maskOf('private key'));
      for (const line of key.split('\n').filter((each) => /^[A-Za-z0-9+/=]{12,}$/.test(each)))
        expect(shown).not.toContain(line);
      expect(shown.split('\n').length).toBe(text.split('\n').length);
      expect(shown).toMatch(/^before\n/);
      expect(shown).toMatch(/after (?:word ){10}\n$/);
      if (key.length < 200) return; // Half of it is no key.
      const cut = text.slice(0, text.indexOf('-----END') - 30);
      expect(maskSecrets(cut)).toContain(maskOf('private key'));
      expect(maskSecrets(`${cut}\ntotal 12\ndrwx\n`)).toMatch(/\ntotal 12\ndrwx\n$/);
    });

    it.each(everyNth(SHOWN, 4, nth))('is masked %s at every cut of a text', (_form, show) => {
      const text = `before\n${show(key)}after\n`;
      // The middle of a long key is like the rest of it.
      const isLong = text.length > 700;
      expectSameAtEveryCut(isLong ? `${text.slice(0, 400)}${text.slice(-250)}` : text);
    });
  },
);

/** Public forms, examples, and names that only begin like a token. */
const OPEN = [
  'AKIAIOSFODNN7EXAMPLE',
  'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  'aws_secret_access_key = da39a3ee5e6b4b0d3255bfef95601890afd80709',
  `ghp_${'x'.repeat(36)}`,
  `ghp_${'abcdefghijklmnopqrstuvwxyz0123456789'}`,
  `sk_live_${'1234567890'.repeat(3)}`,
  'npm_config_registry npm_lifecycle_event npm_package_version_of_this_very_long_name',
  'sk-learn sk-test task-sk-proj-your-api-key-goes-here-and-nothing-else-matters',
  'hf_hub_download_from_the_repository_of_models',
  'xoxb-your-token-here xoxb-not-a-real-token-at-all-of-any-kind',
  'path pattern patch.object.method dapper dapixel',
  'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
  `${'a'.repeat(30)}AKIAQWERTYUIOPASDFGH`,
  '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n',
  "const HEADER = '-----BEGIN RSA PRIVATE KEY-----';\nconst FOOTER = '-----END RSA PRIVATE KEY-----';\n",
  '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq...\n-----END PRIVATE KEY-----\n',
  `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(64)}\n-----END PRIVATE KEY-----\n`,
  'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0NTY3ODkwIn0.',
  `eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'aB3'.repeat(12)}`,
  `eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=.${'aB3'.repeat(20)}`,
  `${'.'.repeat(100)}\r${'-'.repeat(100)}\n| --- | --- |\n`,
];

describe('the checksum of GitHub and npm', () => {
  const changed = (body: string) => body.slice(0, -1) + (body.endsWith('a') ? 'b' : 'a');

  test.each(['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'npm_'])('decides about %s', (prefix) => {
    // The CRC-32 of this text needs five digits of base 62; most need six.
    for (const body of [withChecksum(), withChecksum('Qm7kZ3vT9kZ3vT9kZ3vT9kZ3vT9kZ2')])
      for (const [text, isMasked] of [
        [body, true],
        [changed(body), false],
        [`${changed(body[0] ?? '')}${body.slice(1)}`, false],
        [body.toLowerCase(), body === body.toLowerCase()],
      ] as const)
        expect([text, maskSecrets(`a ${prefix}${text}.`)]).toEqual([
          text,
          isMasked
            ? expect.stringMatching(/^a \[secret: (?:GitHub|npm) token\]\.$/)
            : `a ${prefix}${text}.`,
        ]);
  });

  test('agrees with the one that others have worked out', () => {
    expect(withChecksum('A'.repeat(30))).toBe(`${'A'.repeat(30)}0uCPlr`);
  });

  test.each([
    ['a longer token', `ghr_${made('<b76>')}`],
    ['one without state', `ghs_123456_eyJ${made('<b40>.<b200>.<b43>')}`],
    ['a fine-grained one', `github_pat_${made('<b22>_<b59>')}`],
  ])('says nothing about %s, which stays masked', (_, token) => {
    expect(maskSecrets(`a ${token} b`)).toBe('a [secret: GitHub token] b');
  });
});

test.each(OPEN)('leaves %j as it is', (text) => {
  expect(maskSecrets(text)).toBe(text);
  expectSameAtEveryCut(text);
});

test('leaves public keys and certificates as they are', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const pem = String(publicKey.export({ format: 'pem', type: 'spki' }));
  const certificate = pem.replaceAll('PUBLIC KEY', 'CERTIFICATE');
  expect(maskSecrets(pem + certificate)).toBe(pem + certificate);
});

test('holds back no words, prompts and points of progress', () => {
  const filter = new SecretFilter();
  for (const piece of ['Password: ', 'ready', '....', '>>> ', 'words', 'Done (y/n)? [Y]', '100%'])
    expect(filter.push(piece)).toBe(piece);
  expect(filter.end()).toBe('');
});

test('masks the strings of a value, and shares what has none', () => {
  const [{ secret = '', kind = '' } = {}] = allTokens();
  const open = { a: ['x', 1, null, true] };
  expect(maskValue(open)).toBe(open);
  const value = { data: `a ${secret}`, deep: [{ text: secret }, open], number: 1 };
  const masked = maskValue(value);
  expect(masked).toEqual({
    data: `a ${maskOf(kind)}`,
    deep: [{ text: maskOf(kind) }, open],
    number: 1,
  });
  expect(masked.deep[1]).toBe(open);
  expect(maskInValue(masked)).toBe(maskOf(kind));
  expect([maskInValue(value), maskIn('[secret: unknown]')]).toEqual([undefined, undefined]);
});

test('takes time that grows with the text alone', () => {
  const pieces = ['eyJ.', 'ghs_.', 'sk-', '-----BEGIN PRIVATE KEY-----', '\\', 'AccountKey='];
  for (const piece of pieces) {
    const text = piece.repeat(2 ** 20 / piece.length);
    const filter = new SecretFilter();
    let shown = 0;
    for (let at = 0; at < text.length; at += 1_000)
      shown += filter.push(text.slice(at, at + 1_000)).length;
    expect(shown + filter.end().length).toBe(text.length);
  }
});

/** Every `step`th, from another one for each `nth`. */
function everyNth<T>(items: readonly T[], step: number, nth: number): T[] {
  return items.filter((_, index) => index % step === nth % step);
}
