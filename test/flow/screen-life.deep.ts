import { describe, expect, it } from 'vitest';
import { createClient, enter, newSessionKey, sessionTokens } from '../../client/index.ts';
import { HAS_TMUX, openTmux } from '../cli/tmux.ts';
import { PROGRAM } from './house.ts';
import { askedIn, screenHome } from './screen-home.ts';

const home = screenHome();
const SLOW = { text: 'word '.repeat(200), delayMs: 100 };

describe.runIf(HAS_TMUX)('the screen shows what goes on', () => {
  it('from Enter on, and how long it takes', async () => {
    home.answer(() => ({ ...SLOW, delayMs: 2_500 }));
    const screen = await home.open();
    await screen.type('go');
    await screen.press('Enter');
    await screen.shows(/Asking scripted · \d+ s/);
    await screen.shows(/Writing · \d+ s · about \d+ tokens/);
    await screen.press('Escape');
    await screen.shows('Cancelled.');
  });

  it('while the model server limits requests', async () => {
    let isLimited = true;
    home.answer(() => {
      if (!isLimited) return { text: 'Now it answers.' };
      isLimited = false;
      const body = JSON.stringify({ error: { message: 'slow down' } });
      return { status: 429, body, headers: { 'retry-after': '4' } };
    });
    const screen = await home.open();
    await screen.type('go');
    await screen.press('Enter');
    await screen.shows(/limits requests; asking again in [1-4] s/);
    await screen.shows('Now it answers.');
  });

  it('at once when the server is gone, goes on when it is back, and always lets the person leave', async () => {
    home.answer((request) => (askedIn(request) === 'slowly' ? SLOW : { text: 'At once.' }));
    const screen = await home.open();
    await screen.type('slowly');
    await screen.press('Enter');
    await screen.shows('word word');
    await home.run('stop');
    await screen.shows(/Connection lost; trying again \(\d+ s\)/);
    await home.run('start');
    await screen.hides('Connection lost');
    await screen.shows(/1 turn ·/);
    await home.run('stop');
    await screen.shows('Connection lost');
    await screen.press('C-c');
    await screen.shows('Ctrl-C again leaves.');
    await screen.press('C-c');
    expect(await screen.ended()).toBe(130);
  });

  it('when its session was ended, and keeps what was written', async () => {
    home.answer(() => SLOW);
    await home.run('start');
    const { url } = JSON.parse(await home.run('status', '--json'));
    const owner = createClient({ url, token: (await home.run('token')).trim() });
    const { secret } = await owner.createInvitation();
    const signer = await newSessionKey();
    const session = await enter({ url }, secret, { name: 'terminal', kind: 'machine' }, signer);
    const token = await sessionTokens({ url }, { ...session, signer })(undefined, undefined);
    const screen = await home.open(['chat', '--url', url, '--token', token]);
    await screen.type('slowly');
    await screen.press('Enter');
    await screen.shows('word word');
    await owner.endSession(session.session);
    await screen.shows('This conversation cannot be followed: This session has ended');
    await screen.type('kept words');
    await screen.press('Enter');
    await screen.shows('SESSION_ENDED');
    await screen.shows(/^kept words/m);
  });

  it('what other devices write', async () => {
    home.answer((request) => ({ text: `Heard ${askedIn(request)}.` }));
    const screen = await home.open();
    await screen.type('here');
    await screen.press('Enter');
    await screen.shows('Heard here.');
    await home.run('chat', '--continue', 'from elsewhere');
    await screen.shows('❯ from elsewhere');
    await screen.shows('Heard from elsewhere.');
  });
});

describe.runIf(HAS_TMUX)('the screen', () => {
  it.each([20, 40, 80, 200])('fits %i columns, before and after', async (columns) => {
    home.answer(() => ({ text: `# A head\n\n${'words and 日本語 '.repeat(30)}\n\n- a\n- b` }));
    const screen = await home.open([], { columns });
    await screen.type('go');
    await screen.press('Enter');
    await screen.shows('- b');
    await screen.resize(columns === 20 ? 60 : 20, 24);
    await screen.shows('- b');
    await screen.resize(columns, 24);
    await screen.shows('- b');
    const shown = await screen.screen({ history: true });
    expect(shown).toContain('A head');
    for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
  });

  it('survives a storm of resizes while an answer streams', async () => {
    home.answer(() => ({ text: 'word '.repeat(300), delayMs: 10 }));
    const screen = await home.open();
    await screen.type('go');
    await screen.press('Enter');
    for (let at = 0; at < 60; at++) await screen.resize(20 + ((at * 37) % 100), 10 + (at % 20));
    await screen.resize(80, 24);
    await screen.shows(/1 turn ·/);
  });

  it('stops at Ctrl-Z and comes back', async () => {
    home.answer(() => ({ text: 'Here again.' }));
    const env = { PS1: 'shell$ ' };
    const shell = await openTmux(['bash', '--norc', '-i'], { cwd: home.folder, env });
    await shell.shows('shell$');
    const names = ['XDG_STATE_HOME', 'XDG_CONFIG_HOME'].map((name) => `${name}=${home.folder}/..`);
    await shell.type(`env ${names.join(' ')} ${PROGRAM.join(' ')}`);
    await shell.press('Enter');
    await shell.shows(/^─+\s*$/m);
    await shell.press('C-z');
    await shell.shows(/Stopped/);
    await shell.type('fg');
    await shell.press('Enter');
    // What is typed while the shell still has the terminal ends in its line break, which sends nothing.
    await shell.shows(/^shell\$ fg$[\s\S]*^─+\s*$/m);
    await shell.type('go');
    await shell.press('Enter');
    await shell.shows('Here again.');
  });

  it('is left alone by a terminal of no known kind', async () => {
    home.answer(() => ({ text: 'Plain words.' }));
    const screen = await home.open([], { env: { TERM: 'no-such-terminal' } });
    await screen.type('go');
    await screen.press('Enter');
    await screen.shows('Plain words.');
  });
});
