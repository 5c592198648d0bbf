import { expect, it } from 'vitest';
import type { TaskSpent, Usage } from '../../../../shared/wire/documents.ts';
import type { NewTurn, NewWindow } from '../../../../worker/conversation/store/rows.ts';
import { spentOf, usageOf } from '../../../../worker/conversation/tape/spending.ts';

const dollars = (amount: number) => ({ amount, currency: 'USD' });

function tokens(promptTokens: number, amount?: number): Usage {
  const counted = { promptTokens, completionTokens: 1, totalTokens: promptTokens + 1 };
  return { ...counted, ...(amount !== undefined && { cost: dollars(amount) }) };
}

function turn(usage: Usage | null, estimate?: Usage): NewTurn {
  const said = { text: '', reasoning: null, calls: [], lastSequence: 0, atMs: 0 };
  return { ...said, model: 'main', usage, estimate };
}

function windowWith(usage: Usage | null): NewWindow {
  const scale = { since: 0, tokensPerChar: 1, refused: null };
  return { from: { run: 1, turns: 0 }, prunedThrough: 0, digest: null, usage, scale };
}

const NOTHING = { turns: [], windows: [], tasks: [] };

const TREE = {
  turns: [turn(tokens(10, 0.1)), turn(tokens(20, 0.2))],
  windows: [windowWith(tokens(30, 0.3)), windowWith(null)],
  tasks: [{ usage: tokens(40, 0.4), turns: 5 } satisfies TaskSpent],
};

it('the usage of a response is the sum of its turns, its summaries and its subagents', () => {
  expect(usageOf(TREE)).toEqual({
    promptTokens: 100,
    completionTokens: 4,
    totalTokens: 104,
    cost: dollars(1),
  });
});

it('the usage of a response says how many requests are not counted, those of subagents included', () => {
  const task = { usage: { ...tokens(1), unreportedRequests: 2 }, turns: 3 };
  const spending = { ...NOTHING, turns: [turn(tokens(1)), turn(null)], tasks: [task] };
  expect(usageOf(spending)).toMatchObject({ totalTokens: 4, unreportedRequests: 3 });
});

it('what counts for a budget is the same sum, with the turns of subagents', () => {
  expect(spentOf(TREE, 9, 'USD')).toEqual({
    tokens: 104,
    cost: dollars(1),
    seconds: 9,
    turns: 7,
  });
});

it('what counts for a budget includes no turn that Drawbridge made itself', () => {
  const { model: _, ...own } = turn(null);
  expect(spentOf({ ...NOTHING, turns: [own] }, 0, undefined).turns).toBe(0);
  expect(usageOf({ ...NOTHING, turns: [own, turn(tokens(1))] })).toEqual(tokens(1));
});

it('what counts for a budget is no cost at first, in the currency of the budget', () => {
  expect(spentOf(NOTHING, 0, 'EUR')).toEqual({
    tokens: 0,
    cost: { amount: 0, currency: 'EUR' },
    seconds: 0,
    turns: 0,
  });
});

it('what counts for a budget has no cost where that of a part is unknown', () => {
  const tasks = [{ usage: tokens(1), turns: 1 }];
  expect(spentOf({ ...TREE, tasks }, 0, 'USD').cost).toBeNull();
});

it('what counts for a budget includes the estimate of a turn that was not reported, and says so', () => {
  const turns = [turn(tokens(1, 0.5)), turn(null, tokens(2, 0.25))];
  expect(spentOf({ ...NOTHING, turns }, 0, 'USD')).toMatchObject({
    tokens: 5,
    cost: dollars(0.75),
    isEstimate: true,
  });
});

it.each([null, { ...tokens(1), unreportedRequests: 1 }])(
  'what counts for a budget is an estimate where a subagent does not know its tokens: %j',
  (usage) => {
    const tasks = [{ usage, turns: 1 }];
    expect(spentOf({ ...NOTHING, tasks }, 0, undefined).isEstimate).toBe(true);
  },
);
