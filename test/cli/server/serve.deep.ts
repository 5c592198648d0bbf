import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { beginLogin, createClient, newSessionKey } from '../../../client/index.ts';
import { Invitation } from '../../../shared/api/sessions.ts';
import { isAlive, treeOf } from '../../local/processes.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { DRAWBRIDGE } from '../bundle.ts';
import { callDrawbridge } from '../called.ts';
import { environmentOf, runDrawbridge, startDrawbridge } from '../drawbridge.ts';
import { HAS_TMUX, openTmux } from '../tmux.ts';

const WORKER = join(import.meta.dirname, '..', '..', '..', 'worker', 'index.ts');
const REAL = { FAKE_WORKER: WORKER };
const oneLine = (text: string) => expect.stringMatching(new RegExp(`^drawbridge: .*${text}.*\n$`));
const newState = () => join(temporaryFolder(), 'state');

/** Starts the real Worker on a free port, and waits for its first line. */
async function startServer(extra: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const stateDir = newState();
  const args = ['serve', '--port', '0', '--state', stateDir, ...extra];
  const started = startDrawbridge(args, { env: { ...REAL, ...env } });
  const end = started.finished.then(({ stderr }) => Promise.reject(new Error(stderr)));
  end.catch(() => {});
  const ready = JSON.parse(await Promise.race([started.firstLine, end]));
  const url = String(ready.url);
  return { ...started, stateDir, ready, url };
}

/** The link of an invitation, without its secret: the address at which the server believes to be reached. */
async function addressOf(
  { url, stateDir }: { readonly url: string; readonly stateDir: string },
  headers: Record<string, string> = {},
): Promise<string> {
  const secret = join(stateDir, 'auth-secret');
  const { stdout } = await callDrawbridge(['token', '--for', 'ana', '--secret-file', secret]);
  const authorization = `Bearer ${stdout.trim()}`;
  const invited = await fetch(`${url}/api/v1/invitations`, {
    method: 'POST',
    headers: { authorization, ...headers },
  });
  return Invitation.parse(await invited.json()).link.replace(/#.*$/, '');
}

describe.skipIf(!HAS_TMUX)('serve at a terminal', () => {
  test('names the command that lets the first person in, and prints no secret', async () => {
    const stateDir = newState();
    const words = [process.execPath, DRAWBRIDGE, 'serve', '--port', '0', '--state', stateDir];
    const started = await openTmux(words, {
      env: environmentOf(REAL) as Record<string, string>,
      columns: 200,
    });
    await started.shows('People ');
    const shown = await started.screen();
    expect(shown).not.toContain('#join=');
    const [, account = ''] = /People +\S+ invite (\S+) --state/.exec(shown) ?? [];
    const { stdout: link } = await callDrawbridge(['invite', account, '--state', stateDir]);
    const login = () => callDrawbridge(['login', link.trim(), '--state', newState()]);
    expect(await login()).toMatchObject({ code: 0 });
    expect((await login()).stderr).toContain('This link was used');
    await started.press('C-c');
    await started.ended();
  });
});

describe('serve', () => {
  test('logs lines of JSON, runs no bridge, and ends with everything at SIGTERM', async () => {
    const { process: server, ready, url, stateDir, finished } = await startServer();
    expect(ready).toEqual({
      level: 'info',
      event: 'ready',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      model: expect.stringContaining('built-in demo'),
    });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const tree = treeOf(server.pid ?? 0);
    expect(tree.map(({ command }) => command).join('\n')).not.toContain('connect');
    server.kill('SIGTERM');
    expect(await finished).toEqual({ code: 0, stdout: `${JSON.stringify(ready)}\n`, stderr: '' });
    expect(tree.filter(({ pid }) => isAlive(pid))).toEqual([]);
    expect(readFileSync(join(stateDir, 'auth-secret'), 'utf8')).toHaveLength(43);
  });

  test('gives its metrics for the token in its state and for those of METRICS_TOKEN alone', async () => {
    const METRICS_TOKEN = 'given-by-the-operator and-another-of-theirs';
    const { url, stateDir } = await startServer([], { METRICS_TOKEN });
    // In a terminal that does not have the variable.
    const printed = async (...words: string[]) =>
      (await callDrawbridge(['token', '--state', stateDir, ...words])).stdout.trim();
    const own = await printed('--scope', 'metrics');
    const statusOf = async (path: string, token: string) =>
      (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;
    for (const token of [own, ...METRICS_TOKEN.split(' ')]) {
      expect(await statusOf('/metrics', token)).toBe(200);
      expect(await statusOf('/api/v1/me', token)).toBe(401);
    }
    const others = [await printed(), await printed('--scope', 'bridge'), METRICS_TOKEN, 'x'];
    for (const token of others) expect(await statusOf('/metrics', token)).toBe(401);
    expect(statSync(join(stateDir, 'metrics-token')).mode & 0o777).toBe(0o600);
  });

  test('refuses a METRICS_TOKEN that could be guessed', async () => {
    const args = ['serve', '--port', '0', '--state', newState()];
    const refused = await runDrawbridge(args, { env: { ...REAL, METRICS_TOKEN: 'guess-me' } });
    expect(refused).toEqual({
      code: 2,
      stdout: '',
      stderr: oneLine('needs 16 characters or more'),
    });
  });

  test('takes the address of a stranger from the proxy alone that it is to trust', async () => {
    const signer = await newSessionKey();
    const headers = {
      'x-forwarded-for': '9.9.9.9, 198.51.100.7:4711',
      'cf-connecting-ip': '9.9.9.9',
      cf: '{"clientIp":"9.9.9.9:9"}',
    };
    const addressSeen = async ({ url, stateDir }: { url: string; stateDir: string }) => {
      const withHeaders = (async (input, init) =>
        await fetch(input, {
          ...init,
          headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers },
        })) as typeof fetch;
      const holder = { name: 'laptop', kind: 'machine' } as const;
      const { code } = await beginLogin({ url, fetch: withHeaders }, holder, signer);
      const secret = join(stateDir, 'auth-secret');
      const { stdout } = await callDrawbridge(['token', '--for', 'ana', '--secret-file', secret]);
      const { address } = await createClient({ url, token: stdout.trim() }).getLogin(code);
      return address;
    };
    // This machine itself has no address that says anything.
    expect(await addressSeen(await startServer())).toBeUndefined();
    expect(await addressSeen(await startServer(['--trust-proxy']))).toBe('198.51.100.7');
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((each) => each?.family === 'IPv4' && !each.internal)?.address;
    if (outside === undefined) return;
    const open = await startServer(['--host', '0.0.0.0']);
    const { port } = new URL(open.url);
    const url = `http://${outside}:${port}`;
    expect(await addressSeen({ ...open, url })).toBe(outside);
  });

  test('takes the scheme from X-Forwarded-Proto only behind a trusted proxy', async () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.test' };
    const open = await startServer();
    expect(await addressOf(open, headers)).toBe(`${open.url}/`);
    const trusting = await startServer(['--trust-proxy']);
    const https = `${trusting.url.replace('http:', 'https:')}/`;
    expect(await addressOf(trusting, headers)).toBe(https);
    expect(await addressOf(trusting)).toBe(`${trusting.url}/`);
  });

  test('names the public URL, however a client came', async () => {
    const server = await startServer(['--public-url', 'https://agent.example.com/']);
    expect(server.ready).toMatchObject({ publicUrl: 'https://agent.example.com' });
    const address = await addressOf(server, { 'x-forwarded-proto': 'http' });
    expect(address).toBe('https://agent.example.com/');
  });

  test('listens on all addresses by an option, and says what that needs', async () => {
    const { url, process: server, finished } = await startServer(['--host', '0.0.0.0']);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    server.kill('SIGTERM');
    const lines = (await finished).stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(['ready', 'port_open']);
  });

  test('lets in the accounts that a token is minted for, each to its own things', async () => {
    const { url, stateDir } = await startServer();
    const secret = join(stateDir, 'auth-secret');
    const accountOf = async (name: string) => {
      const { stdout } = await callDrawbridge(['token', '--for', name, '--secret-file', secret]);
      const headers = { authorization: `Bearer ${stdout.trim()}` };
      return await (await fetch(`${url}/api/v1/me`, { headers })).json();
    };
    expect(await accountOf('ana')).toMatchObject({ account: 'ana', scope: 'user' });
    expect(await accountOf('ben@example.com')).toMatchObject({ account: 'ben@example.com' });
  });

  test.each([
    ['without a state folder', [], '--state'],
    ['a name for an address', ['--state', 's', '--host', 'localhost'], 'IP address'],
    ['an address of another machine', ['--state', 's', '--host', '192.0.2.1'], 'no address'],
    ['a public URL with a path', ['--state', 's', '--public-url', 'https://a.test/x'], 'no path'],
    ['a public URL of another kind', ['--state', 's', '--public-url', 'ftp://a.test'], 'a scheme'],
  ])('refuses in one line: %s', async (_, args, says) => {
    const refused = await callDrawbridge(['serve', ...args], { cwd: temporaryFolder() });
    expect(refused).toEqual({ code: 2, stdout: '', stderr: oneLine(says) });
  });

  test('refuses a folder that holds something else', async () => {
    const dir = temporaryFolder();
    writeFileSync(join(dir, 'notes.txt'), '');
    const refused = await callDrawbridge(['serve', '--state', dir]);
    expect(refused).toEqual({ code: 2, stdout: '', stderr: oneLine('contains other files') });
  });
});

describe('token --for', () => {
  /** A file with a good secret. */
  function secretFile(text = `${'ab'.repeat(32)}\n`): string {
    const path = join(temporaryFolder(), 'secret');
    writeFileSync(path, text);
    return path;
  }
  const mint = (...args: readonly string[]) => callDrawbridge(['token', ...args]);

  test('prints a token for one account that is valid as long as asked', async () => {
    const args = ['--for', 'ana', '--secret-file', secretFile(), '--days', '7'];
    const { stdout, code } = await mint(...args);
    const { sub, scope, iat = 0, exp } = decodeJwt(stdout.trim());
    expect({ code, sub, scope, exp }).toEqual({
      code: 0,
      sub: 'ana',
      scope: 'user',
      exp: iat + 7 * 24 * 60 * 60,
    });
  });

  test('prints a token for a new bridge, or for the one that is named', async () => {
    const args = ['--for', 'ana', '--secret-file', secretFile(), '--scope', 'bridge'];
    const { stdout, stderr } = await mint(...args);
    const fresh = decodeJwt(stdout.trim());
    expect(stderr).toBe(
      `The token is for a new bridge. Renew it with --bridge-id ${fresh['bridge']}.\n`,
    );
    expect(fresh).toMatchObject({ scope: 'bridge', bridge: expect.stringMatching(/^bridge_/) });
    const id = String(fresh['bridge']);
    const named = await mint(...args, '--bridge-id', id);
    expect(decodeJwt(named.stdout.trim())).toMatchObject({ sub: 'ana', bridge: id });
  });

  test.each([
    ['a file that is not there', () => ['--secret-file', '/nowhere/secret'], 'does not exist'],
    ['a folder', () => ['--secret-file', temporaryFolder()], 'is not a file'],
    ['no plain file', () => ['--secret-file', '/dev/null'], 'is not a file'],
    ['an empty file', () => ['--secret-file', secretFile('')], 'is missing'],
    ['a short secret', () => ['--secret-file', secretFile('abcd')], 'fewer than 32'],
    ['other text', () => ['--secret-file', secretFile('SECRET=a b!')], 'neither hex nor base64'],
    ['no file', () => [], 'go together'],
    ['no days', () => ['--secret-file', secretFile(), '--days', '0'], 'from 1 to'],
    ['a workspace', () => ['--secret-file', secretFile(), '--workspace', '.'], 'no --workspace'],
    ['a bad bridge', () => ['--secret-file', secretFile(), '--bridge-id', 'mine'], 'bridge_'],
  ])('refuses in one line: %s', async (_, args, says) => {
    const refused = await mint('--for', 'ana', ...args());
    expect(refused).toEqual({ code: 2, stdout: '', stderr: oneLine(says) });
  });

  test.each(['', 'Ana', 'a\nb', 'a'.repeat(65)])('refuses the account %j', async (account) => {
    const refused = await mint(`--for=${account}`, '--secret-file', secretFile());
    expect(refused).toEqual({ code: 2, stdout: '', stderr: oneLine('An account is 1 to 64') });
  });

  test('refuses what goes with --for alone', async () => {
    expect(await mint('--days', '3')).toMatchObject({ code: 2, stderr: oneLine('go with --for') });
    const alone = await mint('--secret-file', secretFile());
    expect(alone).toMatchObject({ code: 2, stderr: oneLine('go together') });
  });
});
