import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HAS_TMUX, openTmux, type TmuxScreen } from '../cli/tmux.ts';
import type { ScriptedCall, ScriptedRequest } from '../far-ends/reply-script.ts';
import { PROGRAM } from './house.ts';
import { answer, confirm, pause, screenHome } from './screen-home.ts';

const home = screenHome();
home.answer(answerTo);
writeFileSync(join(home.folder, 'editor.sh'), 'printf "by hand\\n" > "$1"\n');

const QUESTION = {
  id: 'q',
  prompt: 'Which colour?',
  options: ['Red', 'Green'].map((label) => ({ id: label.toLowerCase(), label })),
};
const PLAN = { name: 'Build it', overview: 'In one step.', plan: '# Plan', todos: [] };

/** What the model does for a message of one word and its rest. */
const CALLS: Readonly<Record<string, (rest: string) => ScriptedCall>> = {
  run: (command) => ({ name: 'run_terminal_cmd', arguments: { command, is_background: false } }),
  write: (path) => ({ name: 'write', arguments: { file_path: path, contents: 'proposed\n' } }),
  ask: () => ({ name: 'ask_question', arguments: { title: 'Colour', questions: [QUESTION] } }),
  plan: () => ({ name: 'create_plan', arguments: PLAN }),
};

function answerTo({ messages }: ScriptedRequest) {
  const last = messages.at(-1);
  if (last?.role === 'tool') return { text: `Read: ${String(last.content)}` };
  const [, word = '', rest = ''] =
    /<user_query>\n(\w+) ?(.*)\n<\/user_query>/.exec(String(last?.content)) ?? [];
  const call = CALLS[word]?.(rest);
  return call ? { calls: [call] } : { text: `Heard ${word} ${rest}.` };
}

function open(words: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  return home.open(words, { env, rows: 30 });
}

async function send(screen: TmuxScreen, message: string): Promise<void> {
  await screen.shows(/agent · |plan · /);
  await screen.type(message);
  await screen.shows(message);
  await screen.press('Enter');
}

/** For this long, what is typed after a dialog has gone away belongs to nothing. */
const KEPT_MS = 1_000;

describe.runIf(HAS_TMUX)('dialogs on the screen of a terminal', () => {
  it('name the key that stops the answer, which Esc does not do', async () => {
    const screen = await open();
    await send(screen, 'run touch never.txt');
    await screen.shows('Ctrl-C stops it');
    await screen.shows('Enter: answer');
    await screen.press('Escape');
    await screen.shows('Esc stops it');
    await screen.press('Tab');
    await screen.shows('Ctrl-C stops it');
    await screen.press('C-c');
    await screen.shows('Cancelled.');
    expect(existsSync(join(home.folder, 'never.txt'))).toBe(false);
  });

  it('allows a command once, and nothing that was typed ahead', async () => {
    const screen = await open();
    await send(screen, 'run touch once.txt');
    await screen.shows('Run this command?');
    for (let at = 0; at < 40; at++) await screen.press('1', 'Enter');
    expect(existsSync(join(home.folder, 'once.txt'))).toBe(false);
    await screen.shows('command: touch once.txt');
    await answer(screen, 1);
    await screen.shows('Read: ');
    expect(existsSync(join(home.folder, 'once.txt'))).toBe(true);
    await screen.hides('Run this command?');
  });

  it('allows always for a pattern that the person has changed', async () => {
    const screen = await open();
    await send(screen, 'run echo first');
    await answer(screen, 3);
    await screen.shows('Enter: go on');
    for (let at = 0; at < 'first'.length; at++) await screen.press('BSpace');
    await screen.type('*');
    await screen.shows('> echo *');
    await confirm(screen);
    await screen.shows(/Read: [\s\S]*first/);
    await send(screen, 'run echo second');
    await screen.shows(/Read: [\s\S]*second/);
  });

  it('rejects with words that the model reads', async () => {
    const screen = await open();
    await send(screen, 'run rm everything');
    await answer(screen, 5);
    await screen.shows('Enter: go on');
    await screen.type('never do that');
    await screen.shows('> never do that');
    await confirm(screen);
    await screen.shows('Read: ');
    const { content } = home.requests().at(-1)?.messages.at(-1) ?? {};
    expect(String(content)).toContain('never do that');
  });

  it('has a file changed in the editor before it is written', async () => {
    const screen = await open([], { EDITOR: `sh ${join(home.folder, 'editor.sh')}`, VISUAL: '' });
    await send(screen, 'write made.txt');
    await screen.shows('+ proposed');
    await screen.shows(/\d Change the file first/);
    const number = Number(/(\d) Change the file first/.exec(await screen.screen())?.[1]);
    await answer(screen, number);
    await screen.shows('+ by hand');
    await answer(screen, 1);
    await screen.shows('Read: ');
    expect(readFileSync(join(home.folder, 'made.txt'), 'utf8')).toBe('by hand\n');
  });

  it('answers a question of the agent', async () => {
    const screen = await open();
    await send(screen, 'ask me');
    await screen.shows('Which colour?');
    await answer(screen, 2);
    await screen.shows(/Read: [\s\S]*Green/);
  });

  it('goes away when the question is answered on another terminal', async () => {
    const screen = await open();
    await send(screen, 'run touch other.txt');
    await answer(screen, 5);
    await screen.shows('Enter: go on');
    await screen.type('half-written wo');
    const place = { env: home.env(), cwd: home.folder };
    const other = await openTmux([...PROGRAM, 'approvals'], place);
    await other.shows('Allow it?');
    await other.type('y');
    await other.press('Enter');
    expect(await other.ended()).toBe(0);
    await screen.shows('Read: ');
    await screen.hides(/Reject, and say why|half-written/);
    expect(existsSync(join(home.folder, 'other.txt'))).toBe(true);
    await pause(KEPT_MS);
    await screen.type('then this');
    await confirm(screen);
    await screen.shows('Heard then this.');
  });

  it('stops the answer that asks at Ctrl-C, after a step back', async () => {
    const screen = await open();
    await send(screen, 'run touch never.txt');
    await screen.shows('Enter: answer');
    await screen.press('Escape');
    await screen.shows('1 question waits: Tab answers');
    await screen.type('a thought');
    await screen.shows('a thought');
    await screen.hides('Run this command?');
    for (let at = 0; at < 'a thought'.length; at++) await screen.press('BSpace');
    await screen.press('Tab');
    await answer(screen, 5);
    await screen.shows('Enter: go on');
    await screen.press('C-c');
    await screen.shows('Enter: answer');
    await pause(2 * KEPT_MS);
    await screen.press('C-c');
    await screen.shows(/Cancelled/);
    await screen.hides('Run this command?');
    await screen.press('C-c');
    expect(await screen.ended()).toBe(130);
    expect(existsSync(join(home.folder, 'never.txt'))).toBe(false);
  });

  it('carries out a plan that the agent has made', async () => {
    const screen = await open(['chat', '--mode', 'plan']);
    await send(screen, 'plan it');
    await screen.shows('What to do with the plan?');
    await answer(screen, 1);
    await screen.hides('What to do with the plan?');
    await screen.shows(/agent · /);
    await expect.poll(() => JSON.stringify(home.requests().at(-1)?.messages)).toContain('Build it');
  });
});
