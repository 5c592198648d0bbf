import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAS_TERMINALS, openPseudoTerminal, type PseudoTerminal } from '../cli/pseudo-terminal.ts';
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { PROGRAM } from './house.ts';

const home = mkdtempSync(join(tmpdir(), 'drawbridge-flow-'));
const folders = { first: join(home, 'first'), second: join(home, 'second') };
const env = {
  XDG_STATE_HOME: home,
  XDG_CONFIG_HOME: home,
  DRAWBRIDGE_PORT: '0',
  DRAWBRIDGE_PRESET: 'ask',
};
let model: ScriptedModel;

beforeAll(async () => {
  for (const folder of Object.values(folders)) mkdirSync(folder);
  model = await startScriptedModel(({ messages }) => {
    if (messages.at(-1)?.role === 'tool') return { text: 'It is written.' };
    const asked = typedIn(messages).at(-1) ?? '';
    if (!asked.includes('write')) return { text: `Heard: ${asked}.` };
    return { calls: [{ name: 'write', arguments: { path: 'made.txt', contents: 'made\n' } }] };
  });
});

afterAll(async () => {
  await run(home, 'stop');
  await model?.close();
  rmSync(home, { recursive: true, force: true });
});

/** What a command prints in a folder; its failure is in `stderr`. */
async function run(cwd: string, ...args: string[]): Promise<string> {
  const [program, ...first] = PROGRAM;
  const running = promisify(execFile)(program, [...first, ...args], {
    cwd,
    env: { ...process.env, ...env },
  });
  running.child.stdin?.end();
  const { stdout, stderr } = await running;
  return stdout + stderr;
}

function open(cwd: string, ...args: string[]): PseudoTerminal {
  return openPseudoTerminal([...PROGRAM, ...args], { cwd, env });
}

async function leave(terminal: PseudoTerminal): Promise<void> {
  terminal.type('\x04');
  expect((await terminal.finished).code).toBe(0);
}

/** What the person has typed in a conversation. */
function typedIn(messages: ScriptedRequest['messages']): string[] {
  const sent = messages.filter(({ role }) => role === 'user').map(({ content }) => String(content));
  return sent.flatMap((text) => /<user_query>\n(.*)\n<\/user_query>/.exec(text)?.[1] ?? []);
}

describe.runIf(HAS_TERMINALS)('drawbridge in a folder, at a terminal', () => {
  it('asks for a model once, and takes what was typed before as a message', async () => {
    const terminal = open(folders.first);
    terminal.type('early words\r');
    await terminal.shows('Number (Enter for 1): ');
    expect(terminal.screen()).toContain('kept as your next message');
    const other = /(\d+) {2}another server/.exec(terminal.screen())?.[1];
    terminal.type(`${other}\r`);
    await terminal.shows('Address (such as ');
    terminal.type(`${model.baseUrl}\r`);
    const question = 'Key for this server (not shown; Enter for none): ';
    await terminal.shows(question);
    terminal.type('typed during the start\r');
    await terminal.shows('A key is one word of at least 8 characters');
    await terminal.shows(question, 2);
    terminal.type('\r');
    await terminal.shows('(Enter for scripted): ');
    terminal.type('\r');
    await terminal.shows('Kept in ');
    await terminal.shows('> early words\n');
    await terminal.shows('Heard: early words.');
    await terminal.shows('> ', 2);
    terminal.type('write it\r');
    await terminal.shows('Allow it? ');
    terminal.type('y\r');
    await terminal.shows('It is written.');
    expect(readFileSync(join(folders.first, 'made.txt'), 'utf8')).toBe('made\n');
    await leave(terminal);
  });

  it('joins the server without a question, and takes what was typed before as a message', async () => {
    const terminal = open(folders.first);
    terminal.type('one early line\r');
    await terminal.shows('Heard: one early line.');
    expect(terminal.screen()).not.toContain('Which model');
    await terminal.shows('> ', 2);
    await leave(terminal);
    const { messages } = model.requests.at(-1) ?? { messages: [] };
    expect(typedIn(messages)).toEqual(['one early line']);
  });

  it('connects another folder to the same server, and lets a line that was begun be finished', async () => {
    const terminal = open(folders.second);
    terminal.type('hello from');
    await terminal.shows('> hello from');
    terminal.type(' the second\r');
    await terminal.shows('Heard: hello from the second.');
    await leave(terminal);
    const status = JSON.parse(await run(folders.first, 'status', '--json'));
    expect(status.projects).toMatchObject([
      { workspaceDir: folders.first, bridge: { state: 'connected' } },
      { workspaceDir: folders.second, bridge: { state: 'connected' } },
    ]);
  });

  it("goes on with the folder's own last conversation", async () => {
    const terminal = open(folders.first, '--continue');
    await terminal.shows('> ');
    terminal.type('another line\r');
    await terminal.shows('Heard: another line.');
    await leave(terminal);
    const { messages } = model.requests.at(-1) ?? { messages: [] };
    expect(typedIn(messages)).toEqual(['one early line', 'another line']);
  });

  it('leaves a server that status shows and stop ends', async () => {
    const shown = await run(folders.second, 'status');
    for (const folder of Object.values(folders)) expect(shown).toContain(folder);
    expect(await run(folders.second, 'stop')).toBe('Stopped the server.\n');
    await expect(run(folders.first, 'status')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No server runs'),
    });
  });

  it('leaves the terminal to a command that prints a key, so that a passphrase is no message', async () => {
    const command = ['sh', '-c', 'echo Passphrase? > $KEY_TTY; read word < $KEY_TTY; echo $word'];
    const { baseUrl } = model;
    const models = [{ id: 'scripted', baseUrl, key: { command } }];
    writeFileSync(join(home, 'drawbridge', 'config.json'), JSON.stringify({ models }));
    const withTty = ['sh', '-c', 'KEY_TTY=$(tty) exec "$@"', 'sh'];
    const terminal = openPseudoTerminal([...withTty, ...PROGRAM], { cwd: folders.first, env });
    await terminal.shows('Passphrase?\n');
    terminal.type('secret\r');
    await terminal.shows('> ');
    terminal.type('hello\r');
    await terminal.shows('Heard: hello.');
    await leave(terminal);
    expect(typedIn(model.requests.at(-1)?.messages ?? [])).toEqual(['hello']);
  });
});
