import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newConfig } from '../../local/config/config-folder.ts';
import { isAlive } from '../../local/processes.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { startDrawbridge } from '../drawbridge.ts';
import { newBackground } from './background.ts';

const START = ['start', '--port', '0'];
const states = (status: { projects: { workspaceDir: string; bridge: { state: string } }[] }) =>
  Object.fromEntries(
    status.projects.map(({ workspaceDir, bridge }) => [workspaceDir, bridge.state]),
  );

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a start that %s ends takes the command of its key along',
  async (name) => {
    const pidFile = join(temporaryFolder(), 'pid');
    const command = ['sh', '-c', `echo $$ > ${pidFile}; exec sleep 300`];
    const { env } = newConfig({ baseUrl: 'http://127.0.0.1:9/v1', key: { command } });
    const home = { XDG_STATE_HOME: temporaryFolder() };
    const start = startDrawbridge(START, { cwd: temporaryFolder(), env: { ...env, ...home } });
    await expect.poll(() => readFileSync(pidFile, 'utf8').trim()).not.toBe('');
    start.process.kill(name);
    await start.finished;
    expect(start.process.signalCode).toBe(name);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    await expect.poll(() => isAlive(pid)).toBe(false);
  },
);

test('connected folders come back with the server; one that was taken off does not', async () => {
  const { run, status } = newBackground();
  const [a, b, c] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  for (const folder of [a, b, c]) await run(folder, START);
  expect(await run(b, ['disconnect'])).toMatchObject({ code: 0 });
  await run(a, ['stop']);
  renameSync(c, `${c}-away`);
  await run(a, START);
  await expect
    .poll(async () => states(await status()))
    .toEqual({ [a]: 'connected', [c]: 'missing' });
  const text = (await run(a, ['status'])).stdout;
  expect(text).toContain(`disconnect --workspace ${c}\` removes it from the list`);
  expect(await run(a, ['disconnect', '--workspace', c])).toMatchObject({ code: 0 });
  rmSync(`${c}-away`, { recursive: true });
});

test('a state that is named goes on in another folder only with --move', async () => {
  const { run } = newBackground();
  const state = ['--state', join(temporaryFolder(), 'state')];
  const [a, b] = [temporaryFolder(), temporaryFolder()];
  expect(await run(a, [...START, ...state])).toMatchObject({ code: 0 });
  await run(a, ['stop', ...state]);
  const refused = await run(b, [...START, ...state]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('with --move') });
  expect(await run(b, [...START, '--move', ...state])).toMatchObject({ code: 0 });
  await run(b, ['stop', ...state]);
});

test('a server that was killed takes everything along, and the next start is a new one', async () => {
  const { run, status, processes, pid } = newBackground();
  const folder = temporaryFolder();
  await run(folder, START);
  const before = pid();
  process.kill(before, 'SIGKILL');
  await expect.poll(processes).toEqual([]);
  expect(await run(folder, ['chat', 'Hi'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('No Drawbridge runs'),
  });
  expect(await run(folder, START)).toMatchObject({ code: 0 });
  expect(pid()).not.toBe(before);
  expect(states(await status())).toEqual({ [folder]: 'connected' });
});

test('a bridge that fails is reported, tried again, and leaves the others alone', async () => {
  const { run, status } = newBackground();
  const [good, bad] = [temporaryFolder(), temporaryFolder()];
  await run(good, START);
  writeFileSync(join(bad, '.fake-bridge'), 'failing');
  const failed = await run(bad, START);
  expect(failed).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^drawbridge: [^\n]+\n$/),
  });
  expect(failed.stderr).toContain('The disk is full.');
  const shown = await status();
  expect(states(shown)).toEqual({ [good]: 'connected', [bad]: 'failed' });
  expect(shown.notices.map(({ text }) => text).join()).toContain('is being restarted');
  rmSync(join(bad, '.fake-bridge'));
  expect(await run(bad, START)).toMatchObject({ code: 0 });
  expect(states(await status())).toEqual({ [good]: 'connected', [bad]: 'connected' });
});

test('a crash of one bridge restarts all of them', async () => {
  const { run, status } = newBackground();
  const [good, bad] = [temporaryFolder(), temporaryFolder()];
  await run(good, START);
  const crash = join(bad, '.fake-bridge');
  writeFileSync(crash, 'crashing');
  const starting = run(bad, START);
  await expect
    .poll(async () => (await status()).notices.map(({ text }) => text).join())
    .toContain('died (exit code 3)');
  rmSync(crash);
  expect(await starting).toMatchObject({ code: 0 });
  await expect
    .poll(async () => states(await status()))
    .toEqual({ [good]: 'connected', [bad]: 'connected' });
});

test('each bridge has the environment and the preset of its terminal, and no key of a model', async () => {
  const { run, serverDir } = newBackground();
  const [a, b] = [temporaryFolder(), temporaryFolder()];
  const keys = { OPENAI_API_KEY: 'key-of-a-model' };
  await run(a, START, { ...keys, VIRTUAL_ENV: '/venv/a', DRAWBRIDGE_PRESET: 'ask' });
  await run(b, START, { ...keys, VIRTUAL_ENV: '/venv/b' });
  const projects = join(serverDir, 'projects');
  const seen = readdirSync(projects).map((name) =>
    JSON.parse(readFileSync(join(projects, name, 'bridge-saw.json'), 'utf8')),
  );
  expect(seen.map(({ VIRTUAL_ENV }) => VIRTUAL_ENV).sort()).toEqual(['/venv/a', '/venv/b']);
  expect(seen.map(({ preset }) => preset).sort()).toEqual(['ask', 'workspace']);
  expect(JSON.stringify(seen)).not.toContain('key-of-a-model');
});

test('up joins the shared server until it is interrupted, and leaves its folder then', async () => {
  const { run, status, env } = newBackground();
  const [kept, held] = [temporaryFolder(), temporaryFolder()];
  await run(kept, START);
  const up = startDrawbridge(['up', '--json'], { cwd: held, env });
  const ready = JSON.parse(await up.firstLine);
  const shown = await status();
  expect(ready).toMatchObject({ event: 'ready', url: shown.url, model: 'demo' });
  expect(states(shown)).toEqual({ [kept]: 'connected', [held]: 'connected' });
  up.process.kill('SIGINT');
  expect(await up.finished).toMatchObject({ code: 0, stderr: '' });
  await expect.poll(async () => states(await status())).toEqual({ [kept]: 'connected' });
});

test('a folder joins the server that up runs in another terminal, and a second up does, too', async () => {
  const { run, status, env } = newBackground();
  const [first, second] = [temporaryFolder(), temporaryFolder()];
  const up = startDrawbridge(['up', '--json', '--port', '0'], { cwd: first, env });
  const { url } = JSON.parse(await up.firstLine);
  expect(await run(second, ['start'])).toMatchObject({ code: 0 });
  expect(states(await status())).toEqual({ [first]: 'connected', [second]: 'connected' });
  const port = await run(second, ['up', '--port', '1']);
  expect(port).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`already runs at ${url}`),
  });
  up.process.kill('SIGINT');
  expect(await up.finished).toMatchObject({ code: 0 });
});

test('logs shows the logs of the server and of this folder, and follows them', async () => {
  const { run, env, serverDir } = newBackground();
  const folder = temporaryFolder();
  expect(await run(folder, ['logs'])).toMatchObject({ code: 1 });
  await run(folder, START);
  const { stdout } = await run(folder, ['logs']);
  expect(stdout).toMatch(/^server: \S+Z server_started url=http:[^\n]+$/m);
  expect(stdout).toMatch(/^bridge: \S+Z bridge_connected bridge=bridge_[^\n]+$/m);
  expect((await run(folder, ['logs', 'bridge', '--lines', '1'])).stdout).toMatch(/^\S+Z [^\n]+\n$/);
  const lines = (await run(folder, ['logs', 'server', '--json'])).stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toContainEqual({
    time: expect.any(String),
    level: 'info',
    event: 'server_started',
    url: expect.stringMatching(/^http:/),
  });
  const following = startDrawbridge(['logs', '--follow', 'server'], { cwd: folder, env });
  await following.firstLine;
  // More than is read at once, with a character across the border.
  const long = `x${'ä'.repeat(5 * 1024 * 1024)}`;
  appendFileSync(join(serverDir, 'logs', 'server.log'), `${long}\nafter a long line\n`);
  await expect.poll(() => following.stdout()).toContain('\nafter a long line\n');
  await run(folder, ['stop']);
  await expect.poll(() => following.stdout()).toContain('server_ended');
  following.process.kill('SIGINT');
  expect(await following.finished).toMatchObject({ code: 0 });
});

test('a change of config.json says that the server that runs keeps its settings', async () => {
  const { run } = newBackground();
  const folder = temporaryFolder();
  const set = ['config', 'set', 'model', 'demo'];
  expect(await run(folder, set)).toEqual({ code: 0, stdout: '', stderr: '' });
  await run(folder, START);
  expect(await run(folder, set)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /keeps its old models and settings: `[^`]+ stop`, then `[^`]+ start`/,
    ),
  });
  expect((await run(folder, ['config', 'get'])).stderr).toBe('');
});

test('variables of a server have no effect on the one that runs, which is reported', async () => {
  const { run } = newBackground();
  const folder = temporaryFolder();
  const first = { ALLOWED_ORIGINS: 'https://a.test', METRICS_TOKEN: 'x'.repeat(40) };
  await run(folder, START, first);
  expect((await run(folder, START, first)).stderr).not.toContain('keeps its settings');
  expect((await run(folder, START)).stderr).not.toContain('keeps its settings');
  const others = { ...first, ALLOWED_ORIGINS: 'https://b.test', MAX_TURNS: '7' };
  const notice = /keeps its settings and ignores ALLOWED_ORIGINS and MAX_TURNS: `[^`]+ stop`, then/;
  expect(await run(folder, START, others)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(notice),
  });
  expect((await run(folder, ['start'], { DRAWBRIDGE_PORT: '1' })).stderr).toContain(
    'ignores DRAWBRIDGE_PORT: ',
  );
  expect((await run(folder, ['start', '--port', '1'])).stderr).toContain('ignores --port: ');
  const token = { METRICS_TOKEN: 'y'.repeat(40) };
  const { stderr } = await run(folder, START, token);
  expect(stderr).toContain('ignores METRICS_TOKEN: ');
  expect(stderr).not.toContain(token.METRICS_TOKEN);
});

test('a model that this terminal names, and the server that runs does not use, is reported', async () => {
  const { run } = newBackground();
  const folder = temporaryFolder();
  const chosen = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_MODEL: 'large' };
  await run(folder, START);
  const notice = /keeps its model and ignores OPENAI_BASE_URL: `[^`]+ stop`/;
  expect((await run(folder, START, chosen)).stderr).toMatch(notice);
  await run(folder, ['stop']);
  for (const _ of ['starts', 'joins']) {
    expect((await run(folder, START, chosen)).stderr).not.toContain('keeps its model');
  }
  const other = { ...chosen, OPENAI_MODEL: 'small' };
  expect((await run(folder, START, other)).stderr).toContain('ignores OPENAI_MODEL: ');
});
