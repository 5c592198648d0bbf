/** Secrets made anew for each test: none is written anywhere. */
import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto';
import { TOKEN_KINDS, type TokenKind } from '../../../machine/secrets/kinds.ts';

/** Text that a pattern describes: `b` for base 62, `h` for hexadecimal, `d` for digits, `U` for capitals, with lengths. */
export function made(pattern: string): string {
  return pattern.replaceAll(/<(\w)(\d+)>/g, (_, chars: string, length: string) =>
    randomOf(ALPHABETS[chars] ?? '', Number(length)),
  );
}

const ALPHABETS: Readonly<Record<string, string>> = {
  b: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  h: '0123456789abcdef',
  d: '0123456789',
  U: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
};

/** What follows the prefix, for kinds whose form says more than their characters. */
const FORMS: Readonly<Record<string, () => string>> = {
  'xoxb-': () => made('<d12>-<d13>-<b24>'),
  'xoxe.xox': () => made('b-1-<U160>'),
  'AccountKey=': () => made('<b86>=='),
  'xapp-': () => made('1-A<U10>-<d13>-<h64>'),
  'hooks.slack.com/services/': () => made('T<U9>/B<U10>/<b24>'),
  'discord.com/api/webhooks/': () => made('<d18>/<b68>'),
  'sk-': () => made('<b20>T3BlbkFJ<b20>'),
  lsv2_pt_: () => made('<h32>_<h10>'),
  dapi: () => made('<h32>-2'),
  glsa_: () => made('<b32>_<h8>'),
  'dt0c01.': () => made('<U24>.<U64>'),
  'SG.': () => made('<b22>.<b43>'),
  'xkeysib-': () => made('<h64>-<b16>'),
  'access-sandbox-': () => made('<h8>-<h4>-<h4>-<h4>-<h12>'),
  sgp_: () => made('<h16>_<h40>'),
  'tskey-api-': () => made('<b12>CNTRL-<b32>'),
  'FLWSECK_TEST-': () => made('<h32>-X'),
  'API-': () => `7${made('<U25>')}`,
  'pat-na1-': () => made('<h8>-<h4>-<h4>-<h4>-<h12>'),
  'sk.eyJ': () => made('<b58>.<b22>'),
  'A3-': () => made('<U6>-<U11>-<U5>-<U5>-<U5>'),
  'PMAK-': () => made('<h24>-<h34>'),
  pat: () => made('<b14>.<h64>'),
  'v1.0-': () => made('<h24>-<h146>'),
  eyJ: () => {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const header = part({ alg: 'HS256', typ: 'JWT' });
    return `${header}.${part({ sub: made('<b8>') })}.${randomBytes(32).toString('base64url')}`.slice(
      3,
    );
  },
  ghp_: withChecksum,
  npm_: withChecksum,
  aws_secret_access_key: () => made('<b40>'),
};

/** 30 characters and their CRC-32, as github.blog describes it: worked out by division of a large number. */
export function withChecksum(body = made('<b30>')): string {
  let sum = 0xffffffffn;
  for (const byte of Buffer.from(body)) {
    sum ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) sum = sum & 1n ? (sum >> 1n) ^ 0xedb88320n : sum >> 1n;
  }
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let written = '';
  for (let rest = sum ^ 0xffffffffn; rest > 0n; rest /= 62n)
    written = digits[Number(rest % 62n)] + written;
  return body + written.padStart(6, '0');
}

/** A token of each prefix of a kind, as a machine makes it. With the text between prefix and token, where it takes one. */
function tokensOf({ kind, prefixes, chars, length, fits, form, lead }: TokenKind) {
  const alphabet = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
    .filter((char) => new RegExp(`[${chars}]`).test(char))
    // A token ends with no dot. Most have few signs.
    .filter((char) => /[A-Za-z0-9]/.test(char))
    .join('');
  const size = Math.max(length[0], Math.min(length[1], length[0] + 4));
  return prefixes.map((prefix) => {
    const like = FORMS[prefix] ?? FORMS[prefixes[0] ?? ''];
    if ((fits || form) && !lead && !like) throw new Error(`${kind} needs a form here`);
    const body = like?.() ?? randomOf(alphabet, size);
    return { kind, shown: lead ? `${prefix}=` : '', secret: lead ? body : `${prefix}${body}` };
  });
}

/** One of each kind and prefix. */
export function allTokens() {
  return TOKEN_KINDS.flatMap(tokensOf);
}

/** Private keys in every form that programs write. */
export function privateKeys(): [string, string][] {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const ed = generateKeyPairSync('ed25519').privateKey;
  const pem = { format: 'pem' } as const;
  const locked = { cipher: 'aes-256-cbc', passphrase: 'x' } as const;
  const block = (label: string, bytes: Buffer, headers = '') => {
    const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
    return `-----BEGIN ${label}-----\n${headers}${lines.join('\n')}\n-----END ${label}-----\n`;
  };
  return [
    ['RSA (PKCS #1)', String(rsa.export({ ...pem, type: 'pkcs1' }))],
    ['RSA (PKCS #8)', String(rsa.export({ ...pem, type: 'pkcs8' }))],
    ['RSA, locked', String(rsa.export({ ...pem, type: 'pkcs8', ...locked }))],
    ['RSA, locked (PKCS #1)', String(rsa.export({ ...pem, type: 'pkcs1', ...locked }))],
    ['EC (SEC 1)', String(ec.export({ ...pem, type: 'sec1' }))],
    ['EC (PKCS #8)', String(ec.export({ ...pem, type: 'pkcs8' }))],
    ['Ed25519', String(ed.export({ ...pem, type: 'pkcs8' }))],
    [
      'OpenSSH',
      block(
        'OPENSSH PRIVATE KEY',
        Buffer.concat([Buffer.from('openssh-key-v1\0'), randomBytes(300)]),
      ),
    ],
    [
      'OpenPGP',
      block(
        'PGP PRIVATE KEY BLOCK',
        Buffer.concat([Buffer.from([0x95, 1]), randomBytes(333)]),
        'Comment: x\n\n',
      ).replace('\n-----END', `\n=${made('<b4>')}\n-----END`),
    ],
  ];
}

/** How texts show a key: each maps its text. */
export const SHOWN: readonly [string, (key: string) => string][] = [
  ['as it is', (key) => key],
  ['with the line ends of Windows', (key) => key.replaceAll('\n', '\r\n')],
  ['in JSON', (key) => JSON.stringify({ type: 'service_account', private_key: key, id: 1 })],
  ['in JSON in JSON', (key) => JSON.stringify(JSON.stringify({ private_key: key }))],
  [
    'with numbers of lines',
    (key) => lines(key, (line, at) => `${String(at + 1).padStart(4)}|${line}`),
  ],
  ['found by grep', (key) => lines(key, (line, at) => `config/keys/app.txt:${at + 3}:${line}`)],
  ['added by a diff', (key) => lines(key, (line) => `+${line}`)],
  ['removed by a diff', (key) => lines(key, (line) => `-${line}`)],
  ['indented', (key) => `key: |\n${lines(key, (line) => `    ${line}`)}`],
  ['in a variable', (key) => `KEY="${key.trimEnd().replaceAll('\n', '\\n')}"\n`],
  ['in a program', (key) => lines(key, (line) => `  "${line}\\n" +`)],
  ['in colours by git', (key) => lines(key, (line) => `\x1b[32m+\x1b[m\x1b[32m${line}\x1b[m`)],
  [
    'in colours by grep',
    (key) =>
      lines(
        key,
        (line, at) =>
          `\x1b[32m\x1b[K${at + 1}\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[K${line.slice(0, 9)}\x1b[01;31m\x1b[K${line.slice(9)}\x1b[m\x1b[K`,
      ),
  ],
  [
    'in colours that were written down',
    (key) => lines(key, (line) => `\\u001b[32m+\\u001b[m\\u001b[38;2;9;99;199m${line}\\u001b[m`),
  ],
  ['in a diff of words', (key) => lines(key, (line) => `\x1b[32m{+${line}+}\x1b[m`)],
  ['in another program', (key) => lines(key, (line) => `"${line}" & vbCrLf & _`)],
  ['without ends of lines', (key) => lines(key, (line) => `  '${line}' +`)],
  ['with comments', (key) => lines(key, (line) => `${line}  // x`)],
  ['in a table', (key) => lines(key, (line) => `| ${line} |`)],
  ['in JSON of PHP', (key) => `${JSON.stringify({ key }).replaceAll('/', '\\/')}\n`],
  ['in JSON of .NET', (key) => `${JSON.stringify({ key }).replaceAll('+', '\\u002B')}\n`],
  ['in XML', (key) => `<k v="${key.replaceAll('\n', '&#xA;')}"/>\n`],
  ['in HTML', (key) => `${key.trimEnd().replaceAll('=', '&#x3D;').replaceAll('/', '&#x2F;')}\n`],
  ['in an address', (key) => `?key=${encodeURIComponent(key)}&x=1\n`],
  ['in a form', (key) => `${new URLSearchParams({ key: key.replaceAll('\n', '\r\n') })}&x=1\n`],
  ['in one line', (key) => `${key.trimEnd().replaceAll('\n', ' ')}\n`],
];

function lines(text: string, show: (line: string, at: number) => string): string {
  return `${text.trimEnd().split('\n').map(show).join('\n')}\n`;
}

function randomOf(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}
