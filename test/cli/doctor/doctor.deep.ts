import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkClock } from '../../../cli/doctor/machine-checks.ts';
import { OWN_ROOT } from '../../../local/own-root.ts';
import { locateState } from '../../../local/state/folder.ts';
import { findBubblewrap, knownFaultOf } from '../../../packages/sandbox/launch/bubblewrap.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { DRAWBRIDGE } from '../bundle.ts';
import { callDrawbridge } from '../called.ts';
import {
  type Finished,
  newPlace,
  type Place,
  runDrawbridge,
  startDrawbridge,
} from '../drawbridge.ts';

const LAUNCHER = join(OWN_ROOT, 'bin', 'drawbridge.mjs');
const RELEASED = '2026-11-01';

/** Runs it for a place; `about` picks findings. */
async function doctor(place: Place, args: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const where = ['--workspace', place.workspaceDir, '--state', place.stateDir];
  const finished = await callDrawbridge(['doctor', '--json', ...where, ...args], { env });
  return {
    ...finished,
    about: (name: string) => findingsOf(finished).filter((f) => f.about === name),
  };
}

function findingsOf({ stdout }: Finished): { about: string; verdict: string; says: string }[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** A server on a free port of this machine. */
async function listening(handle: (req: IncomingMessage, res: ServerResponse) => void) {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a machine on which nothing runs yet', () => {
  it('is good, and says what is not there', async () => {
    const place = newPlace();
    const { code, about } = await doctor(place);
    expect(about('program')).toMatchObject([
      { verdict: 'good', says: expect.stringMatching(/Node \d.*workerd/) },
    ]);
    expect(about('model')).toMatchObject([{ verdict: 'note' }]);
    expect(about('state')[0]?.says).toBe(`will be made at ${place.stateDir}`);
    expect(about('server')).toMatchObject([{ verdict: 'note', says: 'None runs here.' }]);
    const installed = await findBubblewrap();
    const fault = installed.ok ? knownFaultOf(installed.bubblewrap.version) : undefined;
    const warned = { verdict: 'note', says: expect.stringContaining(`fix of ${fault}`) };
    expect(about('bubblewrap')).toMatchObject(fault === undefined ? [] : [warned]);
    expect(code).toBe(0);
  });

  it('shows a person lines, with what to do', async () => {
    const { workspaceDir, stateDir } = newPlace();
    mkdirSync(stateDir, { mode: 0o755 });
    chmodSync(stateDir, 0o755);
    const finished = await runDrawbridge([
      'doctor',
      '--workspace',
      workspaceDir,
      '--state',
      stateDir,
    ]);
    expect(finished.code).toBe(1);
    expect(finished.stdout).toContain(`bad   state      ${stateDir} is open to other users`);
    expect(finished.stdout).toContain(`chmod 700 ${stateDir}\n`);
  });
});

describe('what is wrong on the machine', () => {
  it('a setting that cannot be read', async () => {
    const config = temporaryFolder();
    mkdirSync(join(config, 'drawbridge'));
    writeFileSync(join(config, 'drawbridge', 'config.json'), '{"modle": "x"}', { mode: 0o600 });
    const { code, about } = await doctor(newPlace(), [], { XDG_CONFIG_HOME: config });
    expect(about('settings')).toMatchObject([
      { verdict: 'bad', says: expect.stringContaining('modle') },
    ]);
    expect(code).toBe(1);
  });

  it('a state that a newer version wrote', async () => {
    const place = newPlace();
    mkdirSync(place.stateDir, { mode: 0o700 });
    const newer = JSON.stringify({ format: 999, writtenBy: '99.0.0' });
    writeFileSync(join(place.stateDir, 'state.json'), newer);
    const { about } = await doctor(place);
    expect(about('state')).toMatchObject([
      { verdict: 'bad', says: expect.stringContaining('99.0.0') },
    ]);
  });

  it('rules that are broken', async () => {
    const place = newPlace();
    mkdirSync(join(place.workspaceDir, '.drawbridge'));
    writeFileSync(join(place.workspaceDir, '.drawbridge', 'policy.json'), '{');
    const { about } = await doctor(place);
    expect(about('workspace')).toMatchObject([
      { verdict: 'bad', says: expect.stringContaining('policy.json') },
    ]);
  });

  it('a clock before this version, or before the last writing of the state', async () => {
    const location = newPlace();
    const { serverDir } = await locateState(location);
    mkdirSync(serverDir, { mode: 0o700 });
    writeFileSync(join(serverDir, 'state.json'), '{}');
    const now = Date.now();
    const at = (ms: number) => checkClock(location, RELEASED, ms);
    expect(await at(now)).toMatchObject([{ verdict: 'good' }]);
    expect(await at(Date.parse('2009-01-01'))).toMatchObject([{ verdict: 'bad' }]);
    const future = new Date(now + 60 * 60_000);
    utimesSync(join(serverDir, 'state.json'), future, future);
    expect(await at(now)).toMatchObject([
      { verdict: 'bad', says: expect.stringContaining('written at') },
    ]);
  });
});

describe('the servers of the models', () => {
  it('one that refuses the key, and one that is not there', async () => {
    const refusing = await listening((_, res) => res.writeHead(401).end());
    const env = {
      OPENAI_BASE_URL: `${refusing}/v1`,
      OPENAI_API_KEY: 'sk-secret',
      OPENAI_MODEL: 'm',
    };
    const refused = await doctor(newPlace(), [], env);
    expect(refused.about('model')).toMatchObject([
      { verdict: 'bad', says: expect.stringContaining('401') },
    ]);
    expect(refused.stdout).not.toContain('sk-secret');
    const gone = { ...env, OPENAI_BASE_URL: 'http://127.0.0.1:59/v1' };
    const away = await doctor(newPlace(), [], gone);
    expect(away.about('model')).toMatchObject([
      { verdict: 'bad', says: expect.stringContaining('ECONNREFUSED') },
    ]);
  });

  it('one that answers, with another time than this machine', async () => {
    const url = await listening((_, res) => {
      res.sendDate = false;
      res.writeHead(200, { date: new Date(Date.now() - 40 * 60_000).toUTCString() }).end('{}');
    });
    const env = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'm' };
    const { about } = await doctor(newPlace(), [], env);
    expect(about('model')).toMatchObject([{ verdict: 'good' }]);
    expect(about('clock').at(-1)).toMatchObject({
      verdict: 'bad',
      says: expect.stringMatching(/^It shows 20.*Z, but http:.* says 20.*Z\.$/),
    });
  });

  it.each([
    ['20200101000000Z', '20210101000000Z', 'CERT_HAS_EXPIRED'],
    ['20900101000000Z', '20910101000000Z', 'CERT_NOT_YET_VALID'],
  ])('one whose certificate holds from %s to %s', async (start, end, reason) => {
    const { key, cert, certFile } = newCertificate(start, end);
    const server = createTlsServer({ key, cert }, (_, res) => res.end('{}'));
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const known = { NODE_EXTRA_CA_CERTS: certFile };
    const env = { ...known, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'm' };
    const { about } = await doctor(newPlace(), [], env);
    expect(about('model')).toMatchObject([
      {
        verdict: 'bad',
        says: expect.stringContaining(reason),
        advice: expect.stringMatching(/this machine's clock, 20\d\d-.*Set the clock/),
      },
    ]);
  });

  it('one whose certificate is of an authority that Node does not know', async () => {
    const { key, cert } = newCertificate('20200101000000Z', '20900101000000Z');
    const server = createTlsServer({ key, cert }, (_, res) => res.end('{}'));
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const advice = expect.stringContaining('set NODE_EXTRA_CA_CERTS');
    const env = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'm' };
    const { about } = await doctor(newPlace(), [], env);
    expect(about('model')).toMatchObject([{ verdict: 'bad', advice }]);
    let connections = 0;
    server.on('connection', () => connections++);
    const secretFile = join(temporaryFolder(), 'secret');
    writeFileSync(secretFile, 'x'.repeat(43));
    const place = { HOME: temporaryFolder() };
    for (const command of [
      ['login', `${url}/#join=dbi_${'x'.repeat(43)}`],
      ['accounts', 'show', 'ben', '--url', url, '--secret-file', secretFile],
    ]) {
      const { code, stderr } = await runDrawbridge(command, { env: place });
      expect({ code, stderr }).toEqual({ code: 1, stderr: advice });
      expect(stderr).not.toContain('..');
    }
    // Nothing asks again: the answer would be the same.
    expect(connections).toBe(2);
  });

  it.each([10, -10])(
    'one that answers while the clock of this machine is off by %d years',
    async (years) => {
      const url = await listening((_, res) => res.end('{}'));
      const shift = `const real = Date.now; Date.now = () => real() + ${years} * 365.25 * 86_400_000;`;
      // Shifts the clock of the one process.
      const program: [string, ...string[]] = [
        process.execPath,
        ...['--import', `data:text/javascript,${encodeURIComponent(shift)}`],
        DRAWBRIDGE,
      ];
      const env = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'm' };
      const place = newPlace();
      const where = ['--workspace', place.workspaceDir, '--state', place.stateDir];
      const finished = await runDrawbridge(['doctor', '--json', ...where], { env, program });
      const found = findingsOf(finished).filter(({ about }) => about === 'clock');
      expect(finished.code).toBe(1);
      expect(found.at(-1)).toMatchObject({
        verdict: 'bad',
        says: expect.stringMatching(/, but http:/),
      });
      // A time before the release needs no server to be wrong.
      if (years < 0)
        expect(found[0]).toMatchObject({ says: expect.stringContaining('before this') });
    },
  );
});

it('a running server answers, takes its token only, and streams; a proxy that buffers is reported', async () => {
  const place = newPlace();
  const where = ['--workspace', place.workspaceDir, '--state', place.stateDir];
  const up = ['up', '--json', '--port', '0', '--no-bridge', ...where];
  const running = startDrawbridge(up, { program: [process.execPath, LAUNCHER] });
  const ready: { url: string; token: string } = JSON.parse(await running.firstLine);

  const here = await doctor(place);
  for (const name of ['server', 'token', 'streams']) {
    expect(here.about(name)).toMatchObject([{ verdict: 'good' }]);
  }
  expect(here.about('model')).toContainEqual({
    about: 'model',
    verdict: 'good',
    says: expect.stringMatching(/^The running server answers with built-in demo/),
  });
  expect(here.code).toBe(0);

  const stranger = await doctor(newPlace(), ['--url', ready.url, '--token', 'x.y.z']);
  expect(stranger.about('token')).toMatchObject([{ verdict: 'bad' }]);

  const url = await listening((req, res) => passOnAtOnce(ready.url, req, res));
  const behind = await doctor(newPlace(), ['--url', url, '--token', ready.token]);
  expect(behind.about('streams')).toMatchObject([
    { verdict: 'bad', says: expect.stringContaining('buffers streams') },
  ]);
  expect(behind.code).toBe(1);

  running.process.kill('SIGTERM');
  await running.finished;
});

/** A proxy that keeps an answer until its end. */
function passOnAtOnce(target: string, req: IncomingMessage, res: ServerResponse): void {
  const { headers, method } = req;
  const passed = request(`${target}${req.url}`, { headers, method }, (answer) => {
    const parts: Buffer[] = [];
    answer.on('data', (part) => parts.push(part));
    answer.on('end', () => {
      res.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] });
      res.end(Buffer.concat(parts));
    });
  });
  req.pipe(passed);
}

/** A certificate for 127.0.0.1 that signs itself. */
function newCertificate(start: string, end: string) {
  const cwd = temporaryFolder();
  const lists = { database: 'list', new_certs_dir: '.', serial: 'serial', policy: 'names' };
  const ca = { ...lists, default_md: 'sha256', x509_extensions: 'more' };
  const sections = {
    ca: { default_ca: 'own' },
    own: ca,
    names: { commonName: 'supplied' },
    more: { subjectAltName: 'IP:127.0.0.1', basicConstraints: 'CA:TRUE' },
    req: { distinguished_name: 'none' },
    none: {},
  };
  const text = Object.entries(sections).map(([name, fields]) =>
    [`[${name}]`, ...Object.entries(fields).map((pair) => pair.join('='))].join('\n'),
  );
  for (const [name, content] of [
    ['conf', `${text.join('\n')}\n`],
    ['list', ''],
    ['serial', '01'],
  ] as const) {
    writeFileSync(join(cwd, name), content);
  }
  const openssl = (line: string) =>
    execFileSync('openssl', line.split(' '), { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  openssl('req -config conf -new -newkey rsa:2048 -nodes -keyout key -out request -subj /CN=x');
  openssl(
    `ca -config conf -batch -selfsign -notext -keyfile key -in request -out cert -startdate ${start} -enddate ${end}`,
  );
  const certFile = join(cwd, 'cert');
  return { key: readFileSync(join(cwd, 'key')), cert: readFileSync(certFile), certFile };
}
