import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../client/index.ts';
import { openPseudoTerminal } from '../cli/pseudo-terminal.ts';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { blockOf, blocksOf, freePort, newReader, type Reader, written } from './hosting-page.ts';

const ADDRESS = 'https://drawbridge.example.workers.dev';
const ANSWER = 'Hello from the scripted model.';

async function newModel(): Promise<ScriptedModel> {
  const model = await startScriptedModel(() => ({ text: ANSWER }));
  onTestFinished(() => model.close());
  return model;
}

async function waitForHealth(url: string): Promise<void> {
  const health = () =>
    fetch(`${url}/health`).then(
      ({ status }) => status,
      () => 'down',
    );
  await expect.poll(health, { timeout: 60_000, interval: 200 }).toBe(200);
}

it('the page’s way to Cloudflare works in a fresh clone', async () => {
  const reader = newReader();
  const { clone, home, run } = reader;
  const model = await newModel();
  await run(blockOf('sh', 'Deploy'));
  expect(existsSync(join(clone, '.build', 'deployed', 'worker.js'))).toBe(true);

  await run(blockOf('sh', 'The secret'));
  expect(readFileSync(join(home, 'drawbridge-secret'), 'utf8').trim()).toHaveLength(43);
  writeFileSync(join(home, 'openai-key'), 'sk-test\n');
  await run(blockOf('sh', 'The model'));
  setVariables(clone, blockOf('toml', 'The model'));
  await run(blockOf('sh', 'The metrics'));
  writeFileSync(join(clone, '.dev.vars'), `OPENAI_BASE_URL=${model.baseUrl}\n`, { flag: 'a' });

  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  reader.start(`npx wrangler dev --ip 127.0.0.1 --port ${port} --inspector-port 0`);
  await waitForHealth(url);
  const here = (block: string) => block.replaceAll(ADDRESS, url);

  await expectMetrics(url, home);
  expect(await run(here(blockOf('sh', 'Tokens for programs')))).toContain(ANSWER);
  expect(model.requests[0]).toMatchObject({ model: 'gpt-5.2' });
  const page = { origin: 'https://app.example.com' };
  const { headers } = await fetch(`${url}/openapi.json`, { headers: page });
  expect(headers.get('access-control-allow-origin')).toBe(page.origin);

  await signIn(reader, blocksOf('sh').get('People')?.map(here) ?? []);

  await connectBridge(reader, here(blockOf('sh', 'A bridge with a token')));
  const token = readFileSync(join(home, 'ana-token'), 'utf8').trim();
  const bridges = async () => (await createClient({ url, token }).listBridges()).items;
  await expect.poll(bridges).toMatchObject([{ connected: true }, { connected: true }]);

  await enrolSecondDevice(reader);

  const config = join(clone, 'wrangler.toml');
  const toml = readFileSync(config, 'utf8');
  writeFileSync(
    config,
    toml.replace('[vars]', `${blockOf('toml', 'A domain of your own')}\n[vars]`),
  );
  await run('npx wrangler deploy');
  writeFileSync(config, toml);
  await run('git stash --quiet --include-untracked');
  for (const block of blocksOf('sh').get('Upgrades and rollbacks') ?? []) await run(block);
});

/** Changes variables as the block of the page says. They must be there, without a value. */
function setVariables(clone: string, block: string): void {
  const path = join(clone, 'wrangler.toml');
  let toml = readFileSync(path, 'utf8');
  for (const line of block.trim().split('\n')) {
    const unset = `\n${line.split(' ')[0]} = ""\n`;
    expect(toml).toContain(unset);
    toml = toml.replace(unset, `\n${line}\n`);
  }
  writeFileSync(path, toml);
}

/** The commands of the operator, and of a new person, whose folder stays connected. */
async function signIn({ run, home }: Reader, [invite = '', enter = '']: readonly string[]) {
  const link = (await run(invite)).trim();
  const [login = '', connect = ''] = enter.trim().split('\n');
  const folder = join(home, 'anas');
  mkdirSync(folder);
  await run('drawbridge config set server.port 0'); // Somebody else may have 8787.
  await run(login.replace('LINK', `'${link}'`), folder);
  await run(connect, folder);
}

/** The last line keeps running. */
async function connectBridge(reader: Reader, block: string): Promise<void> {
  const lines = block.trim().split('\n');
  await reader.run(lines.slice(0, -1).join('\n'), reader.project);
  reader.start(lines.at(-1) ?? '', reader.project);
}

async function enrolSecondDevice({ run, env, home, project }: Reader): Promise<void> {
  const [show = '', enrol = ''] = blocksOf('sh').get('A second device') ?? [];
  const other = join(home, 'other');
  mkdirSync(other);
  const key = (await run(`export HOME=${other}\n${show}`, other)).trim();
  // A terminal of the tests has their variables too, which name another state.
  const own = {
    XDG_STATE_HOME: join(home, '.local/state'),
    XDG_CONFIG_HOME: join(home, '.config'),
  };
  const terminal = openPseudoTerminal(['bash', '-c', enrol.replace('KEY', `'${key}'`)], {
    env: { ...env, ...own },
    cwd: project,
  });
  await terminal.shows('y or n:');
  terminal.type('y\r');
  expect((await terminal.finished).code).toBe(0);
  expect((await run('drawbridge devices', project)).trim().split('\n')).toHaveLength(2);
}

const NGINX = spawnSync('nginx', ['-v'], { encoding: 'utf8' });
const HAS_NGINX = NGINX.status === 0;
const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;

it('the page’s own server runs, and its unit runs the same', async () => {
  const reader = newReader();
  const model = await newModel();
  reader.borrowPackages();
  const port = await startServer(reader, model);
  const block = blockOf('sh', 'On a server of your own', 1);
  await reader.run(block);
  const token = readFileSync(join(reader.home, 'ana-token'), 'utf8').trim();
  const client = createClient({ url: `http://127.0.0.1:${port}`, token });
  expect(await client.getMe()).toMatchObject({ account: 'ana', scope: 'user' });
  await reader.run(blockOf('sh', 'On a server of your own', 2));
  await expectMetrics(`http://127.0.0.1:${port}`, reader.home);

  // In the home folder, which is no workspace.
  await reader.run(blockOf('sh', 'Backup and restore'), reader.home);
  const restored = await startServer(reader, model, 'drawbridge-restored');
  const there = createClient({ url: `http://127.0.0.1:${restored}`, token });
  expect(await there.getMe()).toMatchObject({ account: 'ana', scope: 'user' });

  const unit = blockOf('ini', 'systemd');
  const [, started] = /^ExecStart=\/usr\/local\/bin\/(.+)$/m.exec(unit) ?? [];
  const serve = blockOf('sh', 'On a server of your own').trim();
  expect(started).toBe(serve.replace('~/drawbridge-state', '/var/lib/drawbridge/state'));
  if (spawnSync('systemd-analyze', ['--version']).status !== 0) return;
  const path = join(temporaryFolder(), 'drawbridge.service');
  writeFileSync(path, unit.replace('/usr/local/bin/drawbridge', '/bin/true'));
  execFileSync('systemd-analyze', ['verify', path]);
});

/** With the token that the page has put into the home folder. */
async function expectMetrics(url: string, home: string): Promise<void> {
  const token = readFileSync(join(home, 'metrics-token'), 'utf8').trim();
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/metrics`, { headers });
  expect(await response.text()).toContain('drawbridge_requests_total{');
}

/** Runs the page's `serve` on a free port, and on another state folder where one is named. */
async function startServer(
  reader: Reader,
  model: ScriptedModel,
  state = 'drawbridge-state',
): Promise<number> {
  const port = await freePort();
  const block = blockOf('sh', 'On a server of your own').trim();
  const serve = `${block.replace('drawbridge-state', state)} --port ${port}`;
  const settings = { OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: 'scripted' };
  const output = await written(reader.start(serve, reader.clone, settings), '"ready"');
  expect(output).toContain('"publicUrl":"https://agent.example.com"');
  return port;
}

it.runIf(HAS_NGINX && HAS_OPENSSL)(
  'the page’s nginx passes streams and tunnels on at once, and its restart loses nothing',
  { timeout: 300_000 },
  async () => {
    const reader = newReader();
    const text = 'This much is said before the model falls silent.';
    const frame = JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] });
    const lines = Array.from({ length: 100 }, (_, at) => `This is line ${at}.`).join('\n');
    const model = await startScriptedModel(({ messages }) =>
      JSON.stringify(messages).includes('count')
        ? { text: lines, chunkChars: 20, delayMs: 50 }
        : { text, hangs: true, frames: [`data: ${frame}\n\n`] },
    );
    onTestFinished(() => model.close());
    reader.borrowPackages();
    const port = await startServer(reader, model);
    const { url, certificate, restart } = await startNginx(port);
    await reader.run(blockOf('sh', 'On a server of your own', 1));

    const run = (command: string) => reader.run(command, reader.project);
    const page = await run(`curl --silent --cacert ${certificate} ${url}/`);
    expect(page).toContain('<title>Drawbridge</title>');
    const secret = '~/drawbridge-state/auth-secret';
    const invite = `drawbridge invite ana --url ${url} --secret-file ${secret}`;
    const trusting = `NODE_EXTRA_CA_CERTS=${certificate} ${invite}`;
    expect(await run(trusting)).toContain('https://agent.example.com/#join=');

    await run(`drawbridge token --for ana --scope bridge --secret-file ${secret} > ~/bridge-token`);
    const trust = { NODE_EXTRA_CA_CERTS: certificate };
    reader.start(`drawbridge connect ${url} --token-file ~/bridge-token`, reader.project, trust);
    const token = readFileSync(join(reader.home, 'ana-token'), 'utf8').trim();
    const direct = createClient({ url: `http://127.0.0.1:${port}`, token });
    const connected = async () => (await direct.listBridges()).items;
    await expect.poll(connected).toMatchObject([{ connected: true }]);

    // The model never ends its answer, so a proxy that holds the stream back would never show the text.
    const body = '{"messages": [{"role": "user", "content": "hello"}], "stream": true}';
    const chat = `curl --silent --no-buffer --cacert ${certificate} -H "authorization: Bearer $(cat ~/ana-token)" -d '${body}' ${url}/api/v1/chat/completions`;
    await written(reader.start(chat), text);

    const counting = `drawbridge chat --url ${url} --token-file ~/ana-token count > ~/counted`;
    const ended = once(reader.start(counting, reader.project, trust), 'exit');
    const counted = () => readFileSync(join(reader.home, 'counted'), 'utf8');
    await expect.poll(counted, { timeout: 60_000 }).toContain('line 3.');
    await restart();
    await ended;
    expect(counted().trimEnd()).toBe(lines);
  },
);

/** Runs nginx with the page's block, on a free port and with a certificate for this machine. */
async function startNginx(port: number) {
  const folder = temporaryFolder();
  const own = await freePort();
  const [certificate, key] = [join(folder, 'agent.pem'), join(folder, 'agent.key')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject];
  execFileSync('openssl', [...made, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  const block = forThisNginx(blockOf('nginx', 'A proxy'))
    .replace('listen 443 ssl', `listen 127.0.0.1:${own} ssl`)
    .replace('/etc/ssl/agent.pem', certificate)
    .replace('/etc/ssl/agent.key', key)
    .replace('127.0.0.1:8787', `127.0.0.1:${port}`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
     http { access_log off; ${temporary.join(' ')}\n${block}\n}`,
  );
  execFileSync('nginx', ['-t', '-c', config, '-p', folder], { stdio: 'ignore' });
  const start = () => spawn('nginx', ['-c', config, '-p', folder], { stdio: 'ignore' });
  let nginx = start();
  const end = async () => {
    const gone = once(nginx, 'exit');
    nginx.kill('SIGTERM');
    await gone;
  };
  onTestFinished(async () => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  });
  const restart = async () => {
    await end();
    nginx = start();
  };
  return { url: `https://127.0.0.1:${own}`, certificate, restart };
}

/** The page's block as it says for an nginx that is older than 1.25.1. */
function forThisNginx(block: string): string {
  const [, minor, patch] = /nginx\/1\.(\d+)\.(\d+)/.exec(NGINX.stderr)?.map(Number) ?? [];
  const isOld = Number(minor) < 25 || (minor === 25 && patch === 0);
  return isOld ? block.replace('listen 443 ssl', '$& http2').replace('  http2 on;\n', '') : block;
}
