import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { blockOf, freePort, newReader, written } from './hosting-page.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const HAS_CONTAINERS = spawnSync('docker', ['info'], { timeout: 10_000 }).status === 0;

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Every line of the file is a comment or an instruction. */
function readDockerfile(): Instruction[] {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const { name = '', text = '' } = /^(?<name>[A-Z]+) (?<text>.+)$/.exec(line)?.groups ?? {};
      return { name, text };
    });
}

it('the Dockerfile has two stages, and runs as no root', () => {
  const instructions = readDockerfile();
  const names = instructions.map(({ name }) => name);
  expect(names.join(' ')).toBe(
    'FROM WORKDIR COPY RUN RUN FROM COPY RUN RUN USER VOLUME EXPOSE HEALTHCHECK ENTRYPOINT CMD',
  );
  const textOf = (name: string) => instructions.find((other) => other.name === name)?.text;
  expect([textOf('USER'), textOf('VOLUME'), textOf('EXPOSE')]).toEqual(['node', '/state', '8787']);
  const compose = readFileSync(join(ROOT, 'compose.yaml'), 'utf8');
  const [, command = ''] = /command:\s+(\[.*?\])/s.exec(compose) ?? [];
  const words: string[] = JSON.parse(command.replace(/,\s*\]$/, ']'));
  const started: string[] = JSON.parse(textOf('CMD') ?? '');
  expect(words.slice(0, started.length)).toEqual(started);
  const serve = blockOf('sh', 'On a server of your own');
  for (const word of words.slice(started.length, -1)) expect(serve).toContain(` ${word} `);
});

// A machine without a container runtime takes the same steps in a folder of its own, as its own user.
it.skipIf(HAS_CONTAINERS)(
  'the steps of the image give a server',
  { timeout: 600_000 },
  async () => {
    const reader = newReader();
    const folder = temporaryFolder();
    const prefix = join(folder, 'prefix');
    for (const name of ['tmp', 'prefix']) mkdirSync(join(folder, name));
    const here = (command: string) =>
      command
        .replaceAll('/tmp', join(folder, 'tmp'))
        .replaceAll('/state', join(folder, 'state'))
        .replace('chown node:node', 'chown "$(id -u):$(id -g)"');
    const instructions = readDockerfile();
    for (const { text } of instructions.filter(({ name }) => name === 'RUN')) {
      await reader.run(`export npm_config_prefix=${prefix}\n${here(text)}`);
    }
    const list = (name: string): string[] => {
      const { text = '' } = instructions.find((other) => other.name === name) ?? {};
      return JSON.parse(text.slice(text.indexOf('[')));
    };
    const port = await freePort();
    const command = [...list('ENTRYPOINT'), ...list('CMD').map(here), '--port', `${port}`];
    const path = [join(prefix, 'bin'), reader.env['PATH']].join(delimiter);
    const server = reader.start(command.join(' '), folder, { PATH: path });
    await written(server, '"ready"');
    const [program = '', ...args] = list('HEALTHCHECK');
    const healthy = args.map((word) => word.replace('8787', `${port}`));
    expect(spawnSync(program, healthy).status).toBe(0);
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(spawnSync(program, healthy).status).toBe(1);
  },
);

it.runIf(HAS_CONTAINERS)('the image runs, and ends at SIGTERM', { timeout: 900_000 }, async () => {
  const name = `drawbridge-test-${process.pid}`;
  const docker = (...args: readonly string[]) =>
    execFileSync('docker', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  docker('build', '--tag', name, '.');
  onTestFinished(() => void docker('rmi', '--force', name));
  const flags = ['--detach', '--init', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL'];
  const id = docker('run', ...flags, '--publish', '127.0.0.1::8787', name);
  onTestFinished(() => void docker('rm', '--force', '--volumes', id));
  const url = `http://${docker('port', id, '8787').split('\n')[0]}`;
  const health = () =>
    fetch(`${url}/health`).then(
      ({ status }) => status,
      () => 'down',
    );
  await expect.poll(health).toBe(200);
  const [, mint = ''] = blockOf('sh', 'Docker').trim().split('\n');
  const words = mint.slice(mint.lastIndexOf('drawbridge token')).split(' ');
  const token = docker('exec', id, ...words);
  const headers = { authorization: `Bearer ${token}` };
  expect(await (await fetch(`${url}/api/v1/me`, { headers })).json()).toMatchObject({
    account: 'ana',
  });
  docker('stop', id);
  expect(docker('inspect', '--format', '{{.State.ExitCode}}', id)).toBe('0');
});
