import { describe, expect, it } from 'vitest';
import { HAS_TMUX } from '../cli/tmux.ts';
import { askedIn, screenHome } from './screen-home.ts';

const home = screenHome();

describe.runIf(HAS_TMUX)('drawbridge on the screen of a terminal', () => {
  it('answers with rendered Markdown, shows where it works, says how to come back, and comes back', async () => {
    home.answer((request) => ({ text: `Heard **${askedIn(request)}** well.` }));
    const screen = await home.open();
    await screen.shows(/agent · scripted .*folder/);
    await screen.type('one line');
    await screen.press('Enter');
    await screen.shows('Heard one line well.');
    await screen.shows('❯ one line');
    await screen.press('C-d');
    expect(await screen.ended()).toBe(0);
    const [, id = ''] = /--resume (\S+)/.exec((await screen.screen()).replaceAll('\n', '')) ?? [];
    const again = await home.open(['--resume', id.slice(0, 'conv_'.length + 36)]);
    await again.shows('Heard one line well.');
    await again.press('C-c');
    await again.press('C-c');
    expect(await again.ended()).toBe(130);
  });

  it('begins with the prompt of its command line, and goes on after the answer', async () => {
    home.answer((request) => ({ text: `Heard ${askedIn(request)}.` }));
    const screen = await home.open(['two words']);
    await screen.shows('Heard two words.');
    await screen.type('three words more');
    await screen.press('Enter');
    await screen.shows('Heard three words more.');
  });
});
