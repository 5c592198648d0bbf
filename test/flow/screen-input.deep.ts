import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HAS_TMUX, openTmux } from '../cli/tmux.ts';
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import type { ScriptedAnswer } from '../far-ends/scripted-model.ts';
import { PROGRAM } from './house.ts';
import { answer, screenHome } from './screen-home.ts';

const home = screenHome({
  DRAWBRIDGE_PRESET: 'workspace',
  EDITOR: 'sed -i s/green/blue/',
  VISUAL: '',
  SHELL: '/bin/sh',
});
const cwd = home.folder;
home.answer(answerTo);
mkdirSync(join(cwd, 'my docs'));
writeFileSync(join(cwd, 'notes.md'), 'The password is swordfish.\n');

/** By words of the newest message. */
function answerTo({ messages }: ScriptedRequest): ScriptedAnswer {
  const asked = saidIn(messages.at(-1));
  if (asked.includes('slowly')) {
    return { text: 'very '.repeat(200), chunkChars: 5, delayMs: 100 };
  }
  if (asked.includes('write a file')) {
    return { calls: [{ name: 'write', arguments: { path: 'new.txt', contents: 'fresh\n' } }] };
  }
  if (asked.includes('make a plan')) return { calls: [{ name: 'create_plan', arguments: PLAN }] };
  return { text: `Heard ${asked}.` };
}

const PLAN = {
  name: 'Paint the door',
  overview: 'Blue suits it.',
  plan: '# The door\n\nPaint it.',
  todos: [{ id: 'paint', content: 'Paint it', dependencies: [] }],
};

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  'base64',
);

function saidIn(message: ScriptedRequest['messages'][number] | undefined): string {
  const text = String(message?.content);
  return /<user_query>\n(.*)\n<\/user_query>/s.exec(text)?.[1] ?? '';
}

/** The program at its prompt. */
async function openScreen(columns = 80, ...words: readonly string[]) {
  const screen = await home.open(words, { columns, rows: 40 });
  await screen.shows(/agent · scripted/);
  return {
    ...screen,
    send: async (text: string) => {
      await screen.type(text);
      await screen.press('Enter');
    },
    leave: async () => {
      await screen.press('C-d');
      expect(await screen.ended()).toBe(0);
    },
  };
}

describe.runIf(HAS_TMUX)('what a person writes on the screen', () => {
  it('completes a file behind @, and the model gets it', async () => {
    const screen = await openScreen();
    await screen.type('read @not');
    await screen.shows('→ notes.md');
    await screen.press('Enter');
    await screen.send('please');
    await screen.shows('Heard read @notes.md please.');
    expect(JSON.stringify(home.requests().at(-1)?.messages)).toContain('swordfish');
    await screen.leave();
  });

  it('completes and runs commands, and sends no unknown one', async () => {
    const screen = await openScreen();
    await screen.type('/sta');
    await screen.shows(/→ status +Show the server/);
    await screen.press('Enter');
    await screen.shows(/Server +http:\/\/127\.0\.0\.1/);
    await screen.shows(/Conversation +new/);
    const asked = home.requests().length;
    await screen.send('/etc/hosts is wrong');
    await screen.shows('There is no command /etc/hosts, so nothing was sent.');
    expect(home.requests().length).toBe(asked);
    await screen.press('C-a');
    await screen.send(' ');
    await screen.shows('Heard /etc/hosts is wrong.');
    await screen.leave();
  });

  it('steers with Enter, queues with Tab, and brings back what waits', async () => {
    const screen = await openScreen();
    await screen.send('talk slowly');
    await screen.shows('very very');
    await screen.send('and be kind');
    await screen.shows('› and be kind (goes into this answer at its next step)');
    await screen.type('then stop');
    await screen.shows('Enter sends it into this answer, Tab behind it');
    await screen.press('Tab');
    await screen.shows('› then stop (waits for its turn)');
    await screen.press('M-Up');
    await screen.shows(/^then stop/m);
    await screen.press('Tab');
    await screen.shows('› then stop (waits for its turn)');
    await screen.press('C-c');
    await screen.shows('Cancelled.');
    await screen.shows(/^then stop/m);
    await screen.shows('› and be kind (not read; it goes with your next message)');
    await screen.press('Enter');
    await screen.shows('Heard then stop.');
    await screen.hides('› and be kind');
    const said = home
      .requests()
      .at(-1)
      ?.messages.map(saidIn)
      .filter((text) => text !== '');
    expect(said).toEqual(['talk slowly', 'and be kind', 'then stop']);
    await screen.leave();
  });

  it('clears with Ctrl-C, and leaves at the second one', async () => {
    const screen = await openScreen();
    await screen.type('half a thought');
    await screen.press('C-c');
    await screen.hides('half a thought');
    await screen.press('C-c');
    expect(await screen.ended()).toBe(130);
  });

  it('opens the editor with the text, and goes on with what it saved', async () => {
    const screen = await openScreen();
    await screen.type('a green door');
    await screen.press('C-g');
    await screen.shows('a blue door');
    await screen.press('Enter');
    await screen.shows('Heard a blue door.');
    await screen.leave();
  });

  it("runs the person's own command, which the model does not see", async () => {
    const screen = await openScreen();
    const asked = home.requests().length;
    await screen.send('!echo $((40 + 2)); read line; echo "got $line"; ls; exit 3');
    await screen.shows(/^42$/m);
    await screen.send('from the keyboard');
    await screen.shows('got from the keyboard');
    await screen.shows('notes.md');
    await screen.shows('(exit code 3)');
    await screen.send('go on');
    await screen.shows('Heard go on.');
    expect(home.requests().length).toBe(asked + 1);
    expect(JSON.stringify(home.requests().at(-1))).not.toContain('from the keyboard');
    const shown = await screen.screen({ history: true });
    expect(shown.match(/^42$/gm)).toHaveLength(1);
    await screen.leave();
  });

  it('clears nothing of the scrollback for a command or an editor, and draws nothing twice', async () => {
    const shell = await openTmux(['sh', '-c', `seq 1 40; exec ${PROGRAM.join(' ')}`], {
      cwd,
      env: home.env(),
    });
    await shell.shows(/^─+\s*$/m);
    for (const words of ['first words', '!seq 100 140', 'last words']) {
      await shell.type(words);
      await shell.press('Enter');
      await shell.shows(words.startsWith('!') ? /^140$/m : `Heard ${words}.`);
    }
    await shell.type('a green door');
    await shell.press('C-g');
    await shell.shows('a blue door');
    const shown = await shell.screen({ history: true });
    for (const line of [
      '1',
      '40',
      '100',
      '140',
      'Heard first words.',
      'Heard last words.',
      'a blue door',
    ])
      expect(shown.split('\n').filter((each) => each === line)).toEqual([line]);
    expect(shown.match(/agent · scripted/g)).toHaveLength(1);
  });

  it('remembers over chats what was written, and searches it', async () => {
    const first = await openScreen();
    await first.send('the first message');
    await first.shows('Heard the first message.');
    await first.type('not yet');
    await first.press('C-c', 'C-c');
    expect(await first.ended()).toBe(130);
    const second = await openScreen();
    await second.press('Up');
    await second.shows(/^the first message/m);
    await second.press('C-c');
    await second.press('C-r');
    await second.shows('What you wrote before');
    await second.type('first mess');
    await second.shows('❯ the first message');
    await second.press('Enter');
    await second.shows(/^the first message/m);
    await second.press('C-c');
    await second.leave();
  });

  it('keeps a draft until the person comes back', async () => {
    const first = await openScreen();
    await first.send('begin');
    await first.shows('Heard begin.');
    await first.type('half a thought');
    await first.press('C-c', 'C-c');
    expect(await first.ended()).toBe(130);
    const second = await openScreen(80, '--continue');
    await second.shows(/^half a thought/m);
    await second.press('C-c');
    await second.leave();
  });

  it('shows, takes back and makes again what the agent changed', async () => {
    const screen = await openScreen(200);
    const file = join(cwd, 'new.txt');
    await screen.send('write a file');
    await screen.shows('Heard');
    expect(readFileSync(file, 'utf8')).toBe('fresh\n');
    await screen.send('/diff');
    await screen.shows(
      /• create new\.txt \+1 −0\n +1 \+ fresh[\s\S]*• create new\.txt \+1 −0\n +1 \+ fresh/,
    );
    await screen.send('/undo');
    await screen.shows('delete new.txt');
    await screen.shows('Change these files?');
    await answer(screen, 2);
    await expect.poll(() => existsSync(file)).toBe(false);
    await screen.shows('took back changes');
    await screen.hides('Esc stops it');
    await screen.send('/redo');
    await screen.shows('make again new.txt');
    await answer(screen, 2);
    await expect.poll(() => existsSync(file)).toBe(true);
    await screen.leave();
  });

  it('takes changes of files back in a copy that begins at an earlier answer', async () => {
    const screen = await openScreen(200);
    const file = join(cwd, 'new.txt');
    rmSync(file, { force: true });
    await screen.send('hello');
    await screen.shows('Heard hello.');
    await screen.hides('Esc stops it');
    await screen.send('write a file');
    await screen.shows('Heard .');
    await screen.hides('Esc stops it');
    expect(existsSync(file)).toBe(true);
    await screen.send('/fork');
    await screen.shows('After: hello');
    await screen.press('Down', 'Enter');
    await screen.shows('delete new.txt');
    await screen.shows('Take the changes back too');
    await screen.press('Down', 'Enter');
    await screen.shows('This is a copy.');
    await expect.poll(() => existsSync(file)).toBe(false);
    await screen.hides('Heard .');
    await screen.leave();
  });

  it('sends the image of a path that is dropped on the terminal', async () => {
    const file = join(cwd, 'my docs', 'a cat.png');
    writeFileSync(file, PNG);
    const screen = await openScreen();
    await screen.paste(file.replaceAll(' ', '\\ '));
    await screen.shows('[image a cat.png]');
    await screen.press('BSpace');
    await screen.hides('[image a cat.png]');
    await screen.send('/image my docs/a cat.png');
    await screen.shows('[image a cat.png]');
    await screen.send('what is it?');
    await screen.shows('Heard');
    const sent = JSON.stringify(home.requests().at(-1)?.messages.at(-1));
    expect(sent).toContain(PNG.toString('base64'));
    await screen.send('/image notes.md');
    await screen.shows('is not an image');
    await screen.leave();
  });

  it('shows the plan again, and has it carried out', async () => {
    const screen = await openScreen(200);
    await screen.send('/mode plan');
    await screen.shows(/plan · scripted/);
    await screen.send('make a plan');
    await screen.shows('Heard');
    await screen.shows('What to do with the plan?');
    await screen.shows('Enter: answer');
    await screen.press('Escape');
    await screen.hides('What to do with the plan?');
    const asked = home.requests().length;
    await screen.send('/plan');
    await screen.shows('Plan: Paint the door');
    await screen.shows('[ ] paint: Paint it');
    await screen.shows('❯ Carry it out');
    await screen.press('Enter');
    await screen.shows(/agent · scripted/);
    await expect.poll(() => home.requests().length).toBeGreaterThan(asked);
    expect(JSON.stringify(home.requests().at(-1)?.messages.at(-1))).toContain('Paint it');
    await screen.leave();
  });

  it('lists background agents, and opens one', async () => {
    await home.run('agents', 'create', '--in-place', 'count the sheep');
    const screen = await openScreen();
    await screen.send('/agents');
    await screen.shows(/❯ count the sheep +\w+ · now/);
    await screen.press('Enter');
    await screen.shows('❯ Follow it');
    await screen.press('Enter');
    await screen.shows('Heard count the sheep.');
    await screen.leave();
  });

  it('goes to other conversations, copies one and writes one to a file', async () => {
    const screen = await openScreen(200);
    await screen.send('a story of a whale');
    await screen.shows('Heard a story of a whale.');
    await screen.send('/export whale.md');
    await screen.shows('Written: ');
    expect(readFileSync(join(cwd, 'whale.md'), 'utf8')).toContain('Heard a story of a whale.');
    await screen.send('/export whale.md');
    await screen.shows('exists already');
    await screen.send('/fork');
    await screen.shows('This is a copy.');
    await screen.send('/new');
    await screen.hides('Heard a story');
    await screen.type('/resume');
    await screen.press('Enter');
    await screen.shows('Go on with');
    await screen.type('whale');
    await screen.shows(/❯ a story of a whale +folder · now/);
    await screen.press('Enter');
    await screen.shows('Heard a story of a whale.');
    await screen.leave();
  });
});
