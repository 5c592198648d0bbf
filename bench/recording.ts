/**
 * `npm run recording`: makes docs/images/resume.svg from a real run. A terminal is killed with SIGKILL in the middle of an
 * answer, another one opens the conversation and goes on at the same character. Ends with 1 if a character is missing or
 * stands twice. Needs tmux.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openTemporaryFolder } from './folder.ts';
import { type Frame, newRecording } from './recording/svg.ts';

const ROOT = join(import.meta.dirname, '..');
const COLUMNS = 54;
const ROWS = 17;
const FRAME_MS = 100;
/** Each number once, so that a reader of the picture can check the claim, too. */
const COUNT = 130;
const ANSWER = `${Array.from({ length: COUNT }, (_, at) => at + 1).join(' ')}, and not one twice.`;
const WORD_MS = 90;
const ORDINARY_UID = 1000;

await using ending = new AsyncDisposableStack();
const folder = ending.use(openTemporaryFolder());
const model = ending.adopt(await startModel(), (server) => void server.close());
const { port } = model.address() as AddressInfo;

const bin = join(folder.path, 'bin');
const project = join(folder.path, 'project');
for (const path of [bin, project]) mkdirSync(path);
// Commands of root's bridge run as the owner of the folder.
if (process.getuid?.() === 0) {
  chmodSync(folder.path, 0o755);
  chownSync(project, ORDINARY_UID, ORDINARY_UID);
}
symlinkSync(join(ROOT, 'bin', 'drawbridge.mjs'), join(bin, 'drawbridge'));
const config = join(folder.path, 'config', 'drawbridge');
mkdirSync(config, { recursive: true });
const settings = { baseUrl: `http://127.0.0.1:${port}/v1`, model: 'counting', server: { port: 0 } };
writeFileSync(join(config, 'config.json'), JSON.stringify(settings));
const env = {
  // Node 24 itself: an older one hands over to it, and the kill would meet the process before.
  PATH: `${bin}:${dirname(process.execPath)}:${process.env['PATH']}`,
  HOME: folder.path,
  XDG_STATE_HOME: join(folder.path, 'state'),
  XDG_CONFIG_HOME: join(folder.path, 'config'),
  // Keys and models of the person's own shell would win over the settings.
  OPENAI_BASE_URL: settings.baseUrl,
  OPENAI_MODEL: settings.model,
  OPENAI_API_KEY: '',
  MODELS: '',
  PS1: '$ ',
  CI: '',
};
const drawbridge = async (...words: string[]) =>
  await promisify(execFile)(join(bin, 'drawbridge'), words, {
    cwd: project,
    env: { ...process.env, ...env },
  });

await drawbridge('start', '--no-browser');
ending.defer(async () => void (await drawbridge('stop')));
const [first, second] = [await openShell(), await openShell()];
const startedMs = performance.now();
const frames: Frame[] = [];
const recording = record();

await first.enter('drawbridge "count to 130"');
await first.shows(/\b41 42\b/);
const pid = await first.pid();
await second.enter(`kill -9 ${pid}`);
await first.shows('Killed');
await sleep(1_500);
await second.enter('drawbridge --continue');
await second.shows('not one twice');
await sleep(2_500);
frames.push({ atMs: performance.now() - startedMs, screens: frames.at(-1)?.screens ?? [] });
recording.stop = true;
await recording.ended;

const shown = wordsOf(await second.history());
const wanted = ANSWER.split(' ');
if (!shown.includes(wanted.join(' '))) {
  process.stderr.write(`Not the same characters:\n${shown}\n`);
  process.exitCode = 1;
} else {
  const file = join(ROOT, 'docs', 'images', 'resume.svg');
  const text = newRecording(frames, { columns: COLUMNS, rows: ROWS });
  writeFileSync(file, text);
  process.stdout.write(`${file}: ${Math.ceil(text.length / 1024)} KiB\n`);
}
await ending.disposeAsync();
process.exit();

/** What stands on a screen as one line: a terminal breaks the answer where its width ends. */
function wordsOf(screen: string): string {
  return screen.replaceAll(/\s+/g, ' ');
}

/** Photographs both screens until it is stopped. */
function record() {
  const state = { stop: false, ended: Promise.resolve() };
  state.ended = (async () => {
    while (!state.stop) {
      const screens = await Promise.all([first.screen(), second.screen()]);
      frames.push({ atMs: performance.now() - startedMs, screens });
      await sleep(FRAME_MS);
    }
  })();
  return state;
}

/** A shell on a screen of its own. */
async function openShell() {
  const socket = `drawbridge-recording-${randomUUID()}`;
  const tmux = async (...words: string[]) =>
    (await promisify(execFile)('tmux', ['-L', socket, '-f', '/dev/null', ...words])).stdout;
  const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const size = ['-x', `${COLUMNS}`, '-y', `${ROWS}`];
  await tmux('new-session', '-d', ...size, '-c', project, 'env', ...words, 'bash', '--norc');
  ending.defer(async () => void (await tmux('kill-server').catch(() => undefined)));
  const screen = () => tmux('capture-pane', '-p', '-e');
  const plain = () => tmux('capture-pane', '-p');
  return {
    screen,
    history: () => tmux('capture-pane', '-p', '-J', '-S', '-'),
    async shows(text: string | RegExp) {
      while (!new RegExp(text).test(wordsOf(await plain()))) await sleep(20);
    },
    /** Of the program that runs in the shell. */
    async pid() {
      const shell = (await tmux('display-message', '-p', '#{pane_pid}')).trim();
      const { stdout: children } = await promisify(execFile)('pgrep', ['-P', shell]);
      return children.trim();
    },
    async enter(text: string) {
      for (const key of text) {
        await tmux('send-keys', '-l', key);
        await sleep(35);
      }
      await sleep(300);
      await tmux('send-keys', 'Enter');
    },
  };
}

/** A model that counts, a word at a time. */
async function startModel() {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta: object, reason: string | null) => {
      const choices = [{ index: 0, delta, finish_reason: reason }];
      response.write(
        `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', choices })}\n\n`,
      );
    };
    for (const word of ANSWER.split(/(?<= )/)) {
      send({ content: word }, null);
      await sleep(WORD_MS);
    }
    send({}, 'stop');
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
