import { describe, expect, it } from 'vitest';
import { HAS_TMUX, openTmux, type TmuxScreen } from '../cli/tmux.ts';
import { PROGRAM } from './house.ts';
import { answer, askedIn, confirm, screenHome } from './screen-home.ts';

const home = screenHome();
home.answer((request) => {
  if (request.messages.at(-1)?.role === 'tool') return { text: 'It was run.' };
  const command = askedIn(request);
  const is_background = command.includes('background');
  return { calls: [{ name: 'run_terminal_cmd', arguments: { command, is_background } }] };
});

describe.runIf(HAS_TMUX)('the screen of a terminal', () => {
  it('shows what runs in the background, and stops it', async () => {
    const screen = await home.open();
    await send(screen, 'echo background; echo ready; sleep 600');
    await answer(screen, 1);
    await screen.shows('It was run.');
    await screen.shows('/processes: 1');
    await send(screen, '/processes');
    await screen.shows(/❯ echo background; echo ready; sleep 600 +now · ready/);
    await screen.press('Enter');
    await screen.shows('❯ Stop it');
    await screen.press('Enter');
    await screen.shows('Stopped: echo background');
    await screen.hides('/processes: 1');
  });

  it('keeps what a stopped command has printed', async () => {
    const screen = await home.open();
    await send(screen, 'echo begun; sleep 600');
    await answer(screen, 1);
    await screen.shows(/^ {2}begun$/m);
    await screen.press('Escape');
    await screen.shows(/^ {2}begun\n {2}Cancelled by the user\.$/m);
    await screen.shows('Allowed once here');
  });

  it('keeps what stood above it, over questions, changes above the window and resizes', async () => {
    const command = ['sh', '-c', `echo before; exec ${PROGRAM.join(' ')}`];
    const screen = await openTmux(command, { cwd: home.folder, env: home.env() });
    await screen.shows(/^─+\s*$/m);
    for (const count of [1, 2]) {
      await send(screen, `seq ${count}00 ${count}40`);
      await screen.shows('Enter: answer');
      // The dialog's title is far below the lines that a narrower window pushes out.
      await screen.resize(80 - 10 * count, 24);
      await screen.shows(/^─+ Run this command\? ─+$/m);
      await answer(screen, 1);
      await screen.shows(new RegExp(`^ {2}${count}40\\n[^]*It was run\\.`, 'm'));
    }
    await screen.resize(40, 20);
    await screen.shows('It was run.');
    await screen.resize(100, 30);
    await screen.shows('It was run.');
    const all = await screen.screen({ history: true });
    expect(all.startsWith('before\n')).toBe(true);
    expect(all.match(/Run this command\?/g)).toBeNull();
    for (const line of ['❯ seq 100 140', '❯ seq 200 240', '  240', 'It was run.'])
      expect(all).toContain(`${line}\n`);
  });
});

async function send(screen: TmuxScreen, message: string): Promise<void> {
  await screen.shows('agent · ');
  await screen.type(message);
  await screen.shows(message);
  await confirm(screen);
}
