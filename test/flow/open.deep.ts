import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { HAS_TERMINALS, openPseudoTerminal } from '../cli/pseudo-terminal.ts';
import { PROGRAM } from './house.ts';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-flow-')));
const folder = join(home, 'folder');
const stateDir = join(home, 'drawbridge', 'server');
const env = {
  XDG_STATE_HOME: home,
  XDG_CONFIG_HOME: home,
  DRAWBRIDGE_PORT: '0',
  DRAWBRIDGE_PRESET: 'ask',
  DISPLAY: '',
  WAYLAND_DISPLAY: '',
  SSH_CONNECTION: '',
  CI: '',
  OPENAI_MODEL: 'demo',
};
/** A program that opens what it gets, and where it writes what came. */
const report = join(home, 'report');

beforeAll(() => {
  mkdirSync(folder);
  writeOpener(join(home, 'bin'), `${join(import.meta.dirname, 'opened-page.ts')}" "${report}`);
  writeOpener(join(folder, 'node_modules', '.bin'), join(home, 'no-such-program'));
});

afterAll(async () => {
  await run('stop');
  rmSync(home, { recursive: true, force: true });
});

function writeOpener(dir: string, program: string): void {
  mkdirSync(dir, { recursive: true });
  const name = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const text = `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`;
  writeFileSync(join(dir, name), text, { mode: 0o755 });
}

async function run(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const [program, ...first] = PROGRAM;
  return await promisify(execFile)(program, [...first, ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
  });
}

/** `drawbridge open` at a terminal. */
function open(display: Readonly<Record<string, string>>, ...args: string[]) {
  return openTerminal(['open', ...args], display);
}

/** A command at a terminal where the agent's folder comes first on the path. */
function openTerminal(args: readonly string[], more: Readonly<Record<string, string>>) {
  const folders = [join(folder, 'node_modules', '.bin'), '.', join(home, 'bin')];
  const path = [...folders, process.env['PATH']].join(delimiter);
  const all = { ...env, PATH: path, ...more };
  return openPseudoTerminal([...PROGRAM, ...args], { cwd: folder, env: all });
}

const OWN_LINK =
  /^http:\/\/127\.0\.0\.1:\d+\/#join=dbi_[\w-]{43}&enrol=bridge_[\w-]{36}\.[\w-]{43}\n$/;

it('starts the server, and prints a link alone into a pipe', async () => {
  const { stdout, stderr } = await run('open');
  expect(stdout).toMatch(OWN_LINK);
  expect(stderr).toContain('lets its page approve calls');
  expect(pageFiles()).toEqual([]);
  expect((await run('start')).stderr).toMatch(/^Page: .*open$/m);
});

describe.runIf(HAS_TERMINALS)('at a terminal', () => {
  it('opens a page that is signed in and may approve, with no secret in the words of a command', async () => {
    const terminal = open({ DISPLAY: ':0' });
    expect((await terminal.finished).code).toBe(0);
    await expect.poll(() => existsSync(`${report}.done`)).toBe(true);
    const called = JSON.parse(readFileSync(`${report}.called`, 'utf8'));
    expect(called).toMatchObject({ cwd: '/', mode: 0o600 });
    expect(called.file).toMatch(/\/drawbridge\/server\/open-[\w-]+\.html$/);
    expect(`${called.link}\n`).toMatch(OWN_LINK);
    expect(terminal.screen()).not.toContain('#join=');
    expect(called.path.split(delimiter)).not.toContain('.');
    expect(called.path).not.toContain(folder);
    expect(existsSync(join(folder, 'from-the-page'))).toBe(true);
    expect(pageFiles()).toEqual([]);
  });

  it.each([
    ['without a display', {}, []],
    ['over SSH', { DISPLAY: ':0', SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' }, []],
    ['with --no-browser', { DISPLAY: ':0' }, ['--no-browser']],
  ])('only prints the link %s', async (_, display, args) => {
    rmSync(`${report}.called`, { force: true });
    const terminal = open(display, ...args);
    expect((await terminal.finished).code).toBe(0);
    expect(terminal.screen()).toContain('/#join=dbi_');
    expect(existsSync(`${report}.called`)).toBe(false);
  });

  it('opens the page of a server elsewhere without a secret that lets it approve', async () => {
    const { origin } = new URL((await run('open')).stdout);
    await run('login', `${origin}/#join=${await newInvitation()}`);
    for (const name of ['called', 'done']) rmSync(`${report}.${name}`, { force: true });
    rmSync(join(folder, 'from-the-page'));
    const terminal = open({ DISPLAY: ':0' }, '--to', origin);
    await terminal.shows('from another server, so it may not approve');
    await expect.poll(() => existsSync(`${report}.done`)).toBe(true);
    const { link } = JSON.parse(readFileSync(`${report}.called`, 'utf8'));
    expect(link).toMatch(/\/#join=dbi_[\w-]{43}$/);
    expect(existsSync(join(folder, 'from-the-page'))).toBe(false);
    expect(pageFiles()).toHaveLength(1);
    terminal.type('\x03');
    expect((await terminal.finished).code).toBe(0);
    expect(pageFiles()).toEqual([]);
  });
});

it('names the login that is missing at a server elsewhere', async () => {
  await expect(run('open', '--to', 'https://agent.example.com')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('login https://agent.example.com'),
  });
});

/** The secret of an invitation into the account of this machine. */
async function newInvitation(): Promise<string> {
  const { stdout } = await run('invite');
  return new URL(stdout).hash.replace('#join=', '');
}

function pageFiles(): string[] {
  return readdirSync(stateDir).filter((name) => name.endsWith('.html'));
}

describe.runIf(HAS_TERMINALS)('the first start of a state', () => {
  /** What a command of a state prints at a terminal, and what the browser was called with. */
  function newState() {
    const state = mkdtempSync(join(home, 'state-'));
    for (const name of ['called', 'done']) rmSync(`${report}.${name}`, { force: true });
    onTestFinished(async () => void (await run('stop', '--state', state)));
    const at = (...args: string[]) => [...args, '--state', state, '--port', '0'];
    const start = async (more: Readonly<Record<string, string>>, ...args: string[]) => {
      const terminal = openTerminal(at('start', ...args), more);
      expect((await terminal.finished).code).toBe(0);
      return terminal.screen();
    };
    return { state, at, start };
  }

  const linkIn = (text: string) => /http:\S+#join=\S+/.exec(text)?.[0];
  const called = () => JSON.parse(readFileSync(`${report}.called`, 'utf8'));

  it('opens the page without printing its link, and the second start opens none', async () => {
    const { state, start } = newState();
    const first = await start({ DISPLAY: ':0' });
    expect([linkIn(first), first]).toEqual([
      undefined,
      expect.stringMatching(/^Page: .*open --state .*$/m),
    ]);
    await expect.poll(() => existsSync(`${report}.done`)).toBe(true);
    expect(`${called().link}\n`).toMatch(OWN_LINK);
    expect(called()).toMatchObject({ mode: 0o600 });
    expect(readdirSync(state).filter((name) => name.endsWith('.html'))).toEqual([]);
    rmSync(`${report}.called`);
    expect(linkIn(await start({ DISPLAY: ':0' }))).toBeUndefined();
    expect(existsSync(`${report}.called`)).toBe(false);
  });

  it('opens nothing in a pipe, in CI, without a display, or unasked', async () => {
    const { at, start } = newState();
    const { stdout, stderr } = await run(...at('start'));
    expect([stdout, linkIn(stderr)]).toEqual(['', undefined]);
    for (const screen of [
      await start({ CI: 'true', DISPLAY: ':0' }),
      await start({}),
      await start({ DISPLAY: ':0' }, '--no-browser'),
    ])
      expect([linkIn(screen), screen]).toEqual([undefined, expect.stringContaining('Page: ')]);
    expect(existsSync(`${report}.called`)).toBe(false);
    await start({ DISPLAY: ':0' });
    await expect.poll(() => existsSync(`${report}.done`)).toBe(true);
  });

  it('`up` opens the page while the server runs, and prints no link', async () => {
    const { at } = newState();
    const terminal = openTerminal(at('up'), { DISPLAY: ':0' });
    await terminal.shows('search for TODO');
    await expect.poll(() => existsSync(`${report}.done`)).toBe(true);
    expect([linkIn(terminal.screen()), called().link]).toEqual([
      undefined,
      expect.stringContaining('#join='),
    ]);
    terminal.type('\x03');
    expect((await terminal.finished).code).toBe(0);
  });

  it('a chat names the command in its first lines, and opens no window', async () => {
    const { at } = newState();
    const terminal = openTerminal(at(), { DISPLAY: ':0' });
    await terminal.shows('> ');
    expect(terminal.screen()).toContain('Page: ');
    expect(linkIn(terminal.screen())).toBeUndefined();
    terminal.type('\x04');
    expect((await terminal.finished).code).toBe(0);
    expect(existsSync(`${report}.called`)).toBe(false);
  });
});

describe.runIf(HAS_TERMINALS)('npm start', () => {
  it('ends in the chat at a terminal', async () => {
    const terminal = openTerminal(['npm-start'], {});
    await terminal.shows('> ');
    terminal.type('\x04');
    expect((await terminal.finished).code).toBe(0);
  });

  it('is `up` with options', async () => {
    const state = mkdtempSync(join(home, 'state-'));
    const terminal = openTerminal(['npm-start', '--state', state, '--port', '0'], {});
    await terminal.shows('Drawbridge is ready');
    terminal.type('\x03');
    expect((await terminal.finished).code).toBe(0);
  });

  it('is `up` without a terminal', async () => {
    const [program, ...first] = PROGRAM;
    const all = { ...process.env, ...env, XDG_STATE_HOME: mkdtempSync(join(home, 'state-')) };
    const up = spawn(program, [...first, 'npm-start'], { cwd: folder, env: all });
    const [text] = await once(up.stdout, 'data');
    expect(String(text)).toContain('Drawbridge is ready');
    up.kill('SIGINT');
    await once(up, 'exit');
  });
});
