import { describe, expect, it } from 'vitest';
import { MIB } from '../../shared/units.ts';
import { HAS_TMUX } from '../cli/tmux.ts';
import { confirm, pause, screenHome } from './screen-home.ts';

const home = screenHome();
const COUNT = 50_000;
const LINES = Array.from({ length: COUNT }, (_, at) => `line ${at}`).join('\n');

describe.runIf(HAS_TMUX && process.platform === 'linux')('output faster than the terminal', () => {
  it('takes no more memory, stands whole on the screen in the end, and leaves the keys alive', async () => {
    home.answer(() => ({ text: `\`\`\`text\n${LINES}\n\`\`\`\n\nThat was all.`, chunkChars: 400 }));
    const screen = await home.open();
    await screen.type('count');
    await confirm(screen);
    await screen.shows(/line \d/);
    const before = await screen.memory();
    await screen.stall(async () => {
      await pause(STALLED_MS);
      expect((await screen.memory()) - before).toBeLessThan(MOST_GROWN);
    });
    await screen.shows('That was all.');
    await screen.shows(/1 turn ·/);
    expect((await screen.memory()) - before).toBeLessThan(MOST_GROWN);
    const shown = (await screen.screen()).split('\n');
    const last = shown.findIndex((line) => line.includes(`line ${COUNT - 1}`));
    for (let up = 0; up < 5; up++) expect(shown[last - up]).toContain(`line ${COUNT - 1 - up}`);
    await screen.type('still here');
    await screen.shows(/^still here/m);
    await screen.press('C-c');
    await screen.hides('still here');
    await screen.press('C-d');
    expect(await screen.ended()).toBe(0);
  });
});

const STALLED_MS = 5_000;
/** Of the text of some 600 KB, its events, and its lines as they are drawn. */
const MOST_GROWN = 250 * MIB;
