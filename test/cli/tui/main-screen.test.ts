import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { MainScreen } from '../../../cli/tui/main-screen.ts';
import { openVirtualTerminal } from './virtual-terminal.ts';

const SHELL = '$ what the person ran before';

it.each([
  ['a short talk', 3, 80, 24, 40, 24],
  ['a talk longer than the window, in a narrower one', 60, 80, 24, 40, 24],
  ['a talk longer than the window, in a wider one', 60, 40, 24, 80, 24],
  ['a talk longer than the window, in a lower one', 60, 80, 24, 80, 10],
  ['a talk longer than the window, in a higher one', 60, 80, 10, 80, 24],
])('keeps the scrollback at a change of the size: %s', async (_, count, ...sizes) => {
  const [columns, rows, newColumns, newRows] = sizes;
  const { terminal, lines, settle } = openScreen(columns, rows);
  lines.push(...Array.from({ length: count }, (_, at) => `line ${at} ${'x'.repeat(30)}`));
  await settle();
  terminal.resize(newColumns, newRows);
  await settle();
  expect(terminal.written()).not.toContain('\x1b[3J');
  const history = await terminal.history();
  expect(history[0]).toBe(SHELL);
  const joined = history.join('\n');
  for (let at = 0; at < count; at++) expect(joined).toContain(`line ${at} `);
  expect((await terminal.screen()).split('\n').at(-1)).toBe(lines.at(-1));
});

it('draws once where a window is dragged to many sizes', async () => {
  const { terminal, lines, settle } = openScreen(80, 24);
  lines.push(...Array.from({ length: 60 }, (_, at) => `line ${at}`));
  await settle();
  const before = terminal.written().length;
  for (let columns = 79; columns > 40; columns--) terminal.resize(columns, 24);
  await vi.waitFor(() => expect(terminal.written().slice(before)).toContain('line 59'));
  await settle();
  expect(terminal.written().slice(before).split('line 59')).toHaveLength(2);
  lines.push('line 60');
  await settle();
  expect((await terminal.screen()).split('\n').slice(-2)).toEqual(['line 59', 'line 60']);
});

describe('a change above the window', () => {
  it('that moves nothing is passed over, and drawn once more in the end', async () => {
    const { terminal, screen, lines, settle } = openScreen(80, 10);
    lines.push(...Array.from({ length: 30 }, (_, at) => (at === 13 ? '' : `line ${at}`)));
    await settle();
    for (let at = 0; at < 5; at++) {
      lines[15] = `change ${at}`;
      await settle();
    }
    expect(await terminal.history()).toEqual([SHELL, ...lines.with(15, 'line 15')]);
    screen.drawStale();
    const history = await terminal.history();
    expect(history.slice(0, 21)).toEqual([SHELL, ...lines.slice(0, 20).with(15, 'line 15')]);
    expect(history.slice(21)).toEqual(lines.slice(14));
    expect(terminal.written()).not.toContain('\x1b[3J');
  });

  it('that moves others is drawn once more with all below it', async () => {
    const { terminal, lines, settle } = openScreen(80, 10);
    lines.push(...Array.from({ length: 30 }, (_, at) => (at === 13 ? '' : `line ${at}`)));
    await settle();
    lines.splice(17, 0, 'new 1', 'new 2');
    await settle();
    const history = await terminal.history();
    expect(history[0]).toBe(SHELL);
    expect(history.slice(-18)).toEqual(lines.slice(-18));
    lines.push('last');
    await settle();
    expect((await terminal.screen()).split('\n').slice(-2)).toEqual(['line 29', 'last']);
    expect(terminal.written()).not.toContain('\x1b[3J');
  });

  it('goes on where most of the window is gone, such as a dialog', async () => {
    const { terminal, lines, settle } = openScreen(80, 10);
    lines.push(...Array.from({ length: 30 }, (_, at) => `line ${at}`));
    await settle();
    lines.splice(18);
    await settle();
    expect((await terminal.screen()).split('\n').slice(-2)).toEqual(['line 16', 'line 17']);
    lines.push('more');
    await settle();
    expect((await terminal.screen()).split('\n').at(-1)).toBe('more');
    expect((await terminal.history())[0]).toBe(SHELL);
  });

  it('far up stays as the terminal has it, and what is new is drawn below', async () => {
    const { terminal, lines, settle } = openScreen(80, 10);
    lines.push(...Array.from({ length: 300 }, (_, at) => `line ${at}`));
    await settle();
    lines.unshift('first');
    lines.push(...Array.from({ length: 30 }, (_, at) => `more ${at}`));
    await settle();
    const history = await terminal.history();
    expect(history.slice(0, 200)).toEqual([SHELL, ...lines.slice(1, 200)]);
    expect(history.slice(-50)).toEqual(lines.slice(-50));
    expect(terminal.written()).not.toContain('\x1b[3J');
  });

  it('that the person asks for is drawn below, as much as there is room for', async () => {
    const { terminal, screen, lines, settle } = openScreen(80, 10);
    lines.push(...Array.from({ length: 300 }, (_, at) => `line ${at}`));
    await settle();
    lines.splice(100, 100, ...Array.from({ length: 500 }, (_, at) => `unfolded ${at}`));
    screen.drawChanged(400);
    const unfolded = await terminal.history();
    expect(unfolded[0]).toBe(SHELL);
    expect(unfolded.slice(-400)).toEqual(lines.slice(-400));
    expect(unfolded.at(-401)).toBe('line 289');
    lines.splice(100, 500, 'folded');
    screen.drawChanged();
    const folded = await terminal.history();
    expect(folded.slice(0, -10)).toEqual(unfolded.slice(0, -10));
    expect(folded.slice(-10)).toEqual(lines.slice(-10));
    expect(terminal.written()).not.toContain('\x1b[3J');
  });

  it('never clears the scrollback, whatever changes', async () => {
    const { terminal, screen, lines, settle } = openScreen(80, 10);
    const random = seeded(7);
    for (let step = 0; step < 24; step++) {
      const at = Math.floor(random() * (lines.length + 1));
      const fresh = Array.from({ length: random() * 40 }, (_, of) => `step ${step} line ${of}`);
      lines.splice(at, random() < 0.5 ? 0 : random() * 400, ...fresh);
      if (random() < 0.2) screen.drawChanged(random() * 500);
      else await settle();
      const shown = lines.slice(-10).join('\n').trimEnd();
      expect((await terminal.screen()).endsWith(shown)).toBe(true);
    }
    expect(terminal.written()).not.toContain('\x1b[3J');
  });
});

function openScreen(columns: number, rows: number) {
  const terminal = openVirtualTerminal(columns, rows);
  terminal.write(`${SHELL}\r\n`);
  const screen = new MainScreen(terminal);
  const lines: string[] = [];
  screen.addChild({ invalidate() {}, render: () => [...lines] });
  screen.start();
  onTestFinished(() => screen.stop());
  const settle = async () => {
    screen.requestRender();
    // A drawing follows from a timer that another one starts: on a busy machine one long wait could overtake them.
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  return { terminal, screen, lines, settle };
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
