import { expect, it } from 'vitest';
import { planWindow } from '../../../../../worker/conversation/memory/window/plan.ts';
import type { NewWindow } from '../../../../../worker/conversation/store/rows.ts';
import { historyOf, type MadeTurn, sizeOf, under } from './histories.ts';

/** Tokens are a quarter of the characters here, so that the room is 7,500 tokens, or 30,000 characters. */
const SCALE = { since: 0, tokensPerChar: 0.25, refused: null };
const WINDOW: NewWindow = {
  from: { run: 1, turns: 0 },
  prunedThrough: 0,
  digest: null,
  usage: null,
  scale: SCALE,
};

function reading(chars: number): MadeTurn {
  return { calls: [{ arguments: { target_file: 'a.ts' }, result: 'x'.repeat(chars) }] };
}

function saying(chars: number): MadeTurn {
  return { text: 'x'.repeat(chars) };
}

it('a conversation that nears the window is left alone while there is room', () => {
  const history = historyOf([{ asked: 'Go.', turns: [reading(8_000), reading(8_000)] }], WINDOW);
  expect(planWindow(history, sizeOf())).toEqual({ type: 'fits', isOver: false });
});

it('a conversation that nears the window loses its older results first, in one large step, and none of the newest turn', () => {
  const turns = [1, 2, 3, 4, 5, 6, 7].map(() => reading(4_000));
  const history = historyOf([{ asked: 'Go.', turns }], WINDOW);
  expect(planWindow(history, sizeOf())).toEqual({
    type: 'prune',
    window: { ...WINDOW, prunedThrough: 4, scale: { ...SCALE, since: 7 } },
  });
});

it('a conversation that nears the window is summarised before the run that asks, with the newest words before it left as they are', () => {
  const turns = [1, 2, 3, 4, 5].map(() => saying(6_000));
  const history = historyOf([{ asked: 'Go.', turns }, { asked: 'And now?' }], WINDOW);
  expect(planWindow(history, sizeOf())).toMatchObject({
    type: 'summarise',
    window: { from: { run: 1, turns: 4 }, prunedThrough: 0 },
    room: 30_000,
  });
});

it('a conversation that nears the window is cut within the run that asks only where that alone is too long', () => {
  const before = { asked: 'Go.', turns: [saying(9_000), saying(9_000)] };
  const short = historyOf([before, { asked: 'On.', turns: [saying(5_000), saying(5_000)] }]);
  const long = historyOf([{ asked: 'On.', turns: [1, 2, 3, 4, 5].map(() => saying(6_000)) }]);
  expect(planWindow(under(short, WINDOW), sizeOf())).toMatchObject({
    window: { from: { run: 2, turns: 0 } },
  });
  expect(planWindow(under(long, WINDOW), sizeOf())).toMatchObject({
    window: { from: { run: 1, turns: 4 } },
  });
});

it('a conversation that nears the window leaves older results out beside a summary, where the current run is not to be cut and is still too long', () => {
  const before = { asked: 'x'.repeat(11_000), turns: [saying(10_000)] };
  const turns = [1, 2, 3, 4].map(() => reading(3_000));
  const history = historyOf([before, { asked: 'On.', turns }], WINDOW);
  expect(planWindow(history, sizeOf())).toMatchObject({
    type: 'summarise',
    window: { from: { run: 2, turns: 0 }, prunedThrough: 4 },
  });
});

it('a conversation that nears the window is said to be too long where nothing can be saved', () => {
  const history = historyOf([{ asked: 'x'.repeat(40_000) }], WINDOW);
  expect(planWindow(history, sizeOf())).toEqual({ type: 'fits', isOver: true });
});

it('a conversation that nears the window is summarised again only when much has come since', () => {
  let window = WINDOW;
  const turns: MadeTurn[] = [];
  const summaries: number[] = [];
  for (let count = 1; count <= 60; count++) {
    turns.push({ text: 'x'.repeat(2_000), ...reading(1_500) });
    const plan = planWindow(historyOf([{ asked: 'Go.', turns }], window), sizeOf());
    if (plan.type === 'prune') window = plan.window;
    if (plan.type !== 'summarise') continue;
    summaries.push(count);
    const digest = { summary: 'x'.repeat(3_000), words: ['Go.'], plan: null, todos: [] };
    window = { ...plan.window, digest, usage: null };
  }
  const gaps = summaries.slice(1).map((count, index) => count - (summaries[index] ?? 0));
  expect(summaries.length).toBeGreaterThan(3);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(4);
});

const turns = (promptTokens: number): MadeTurn[] => [
  saying(18_000),
  { ...saying(1_000), promptTokens },
];

it('the weight of a conversation is measured by what the model counted', () => {
  const plan = (promptTokens: number) =>
    planWindow(historyOf([{ asked: 'Go.', turns: turns(promptTokens) }], WINDOW), sizeOf());
  expect(plan(4_000)).toEqual({ type: 'fits', isOver: false });
  expect(plan(10_000)).toMatchObject({ type: 'summarise' });
});

it('the weight of a conversation is not measured by a turn from before the window', () => {
  const window = { ...WINDOW, scale: { ...SCALE, since: 2 } };
  const history = historyOf([{ asked: 'Go.', turns: turns(10_000) }], window);
  expect(planWindow(history, sizeOf())).toEqual({ type: 'fits', isOver: false });
});

it('the weight of a conversation stays as it was measured where an upstream counts less than any text comes to', () => {
  const many = [...turns(1), saying(12_000)];
  const history = historyOf([{ asked: 'Go.', turns: many }], WINDOW);
  expect(planWindow(history, sizeOf({ contextWindow: 6_000 }))).toMatchObject({
    type: 'summarise',
    window: { scale: { tokensPerChar: WINDOW.scale.tokensPerChar } },
  });
});

it('the weight of a conversation includes an image, where the model takes images', () => {
  const image = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } };
  const history = historyOf([
    { asked: [image, image, image, image, image, image], turns: [saying(10)] },
    { asked: 'And?' },
  ]);
  const sent = under(history, WINDOW);
  expect(planWindow(sent, sizeOf())).toMatchObject({ type: 'summarise' });
  expect(planWindow(sent, sizeOf({ takesImages: false }))).toMatchObject({ type: 'fits' });
});

const history = historyOf([
  { asked: 'Go.', turns: [saying(12_000), saying(1_000)] },
  { asked: 'On.' },
]);
const size = sizeOf({ contextWindow: undefined });

it('an upstream that refuses what should have fitted gets half of it from then on', () => {
  expect(planWindow(history, size)).toEqual({ type: 'fits', isOver: false });
  const plan = planWindow(history, size, { force: true });
  expect(plan).toMatchObject({ type: 'summarise', window: { from: { run: 1, turns: 1 } } });
  if (plan.type !== 'summarise') return;
  const { model, chars } = plan.window.scale.refused ?? {};
  expect(model).toBe('m');
  expect(chars).toBeLessThan(8_200);
  const digest = { summary: 's', words: ['Go.'], plan: null, todos: [] };
  const grown = under(
    historyOf([
      { asked: 'Go.', turns: [saying(12_000), saying(1_000)] },
      { asked: 'On.', turns: [saying(3_000), saying(3_000)] },
    ]),
    { ...plan.window, digest, usage: null },
  );
  expect(planWindow(grown, size)).toMatchObject({ type: 'summarise' });
  expect(planWindow(grown, { ...size, model: 'other' })).toMatchObject({ type: 'fits' });
});

it('what an upstream refuses though it should have fitted is refused to the user where nothing can be saved', () => {
  const single = historyOf([{ asked: 'x'.repeat(3_000) }]);
  expect(planWindow(single, size, { force: true })).toMatchObject({ type: 'fits' });
});
