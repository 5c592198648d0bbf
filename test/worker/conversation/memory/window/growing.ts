/** Random conversations that grow, and what holds for the window of each. */

import { expect } from 'vitest';
import { Random } from '../../../../../bench/fuzz/random.ts';
import type { UpstreamMessage } from '../../../../../packages/model/request.ts';
import type { RuleFile } from '../../../../../shared/wire/rules.ts';
import { digestOf } from '../../../../../worker/conversation/memory/window/digest.ts';
import { WINDOW_LIMITS } from '../../../../../worker/conversation/memory/window/limits.ts';
import {
  measuredScale,
  messagesOfHistory,
  weighHistory,
} from '../../../../../worker/conversation/memory/window/messages.ts';
import {
  planWindow,
  type WindowPlan,
} from '../../../../../worker/conversation/memory/window/plan.ts';
import { resultText } from '../../../../../worker/conversation/memory/window/results.ts';
import {
  type ModelSize,
  roomOf,
  scaleOf,
  weigh,
} from '../../../../../worker/conversation/memory/window/size.ts';
import { summaryRequest } from '../../../../../worker/conversation/memory/window/summary-request.ts';
import type { ModelHistory } from '../../../../../worker/conversation/memory/window/transcript.ts';
import type { NewWindow } from '../../../../../worker/conversation/store/rows.ts';
import {
  historyOf,
  type MadeCall,
  type MadeRun,
  type MadeTurn,
  sizeOf,
  under,
} from './histories.ts';

/** Grows as many conversations, and checks each at each turn. */
export function growMany(seeds: number): void {
  const seen = { prune: 0, summarise: 0, over: 0 };
  for (let seed = 1; seed <= seeds; seed++) grow(seed, seen);
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(seeds / 20);
}

/** Turn by turn, as the runner does it: planned before each request. */
function grow(seed: number, seen: Record<'prune' | 'summarise' | 'over', number>): void {
  const random = new RandomTalk(seed);
  const runs = manyRuns(random);
  const size = sizeOf({
    contextWindow: random.pick([1, 400, 4_000, 16_000, 64_000]),
    maxOutputTokens: random.pick([undefined, 100, 8_000]),
    takesImages: random.below(2) === 0,
    fixedChars: random.pick([200, 4_000]),
  });
  let window: NewWindow | null = null;
  let leastRoom = Number.POSITIVE_INFINITY;
  for (const soFar of prefixesOf(runs)) {
    const history = under(historyOf(soFar), window);
    const force = random.below(12) === 0;
    const plan = planWindow(history, size, { force });
    window = adopt(history, plan, size, random) ?? window;
    const sent = under(historyOf(soFar), window);
    if (plan.type !== 'fits') {
      seen[plan.type]++;
      expect(planWindow(sent, size), where(seed, soFar)).toMatchObject({ type: 'fits' });
    }
    check(sent, size, where(seed, soFar), seen);
    // Words that were cut while there was less room stay so.
    leastRoom = Math.min(leastRoom, roomOf(size, scaleOf(sent.window)));
    expectNewestWords(sent, size, leastRoom, where(seed, soFar));
  }
}

function adopt(
  history: ModelHistory,
  plan: WindowPlan,
  size: ModelSize,
  random: RandomTalk,
): NewWindow | null {
  if (plan.type === 'fits') return null;
  if (plan.type === 'prune') return plan.window;
  const request = summaryRequest(history, plan, { model: size.model, room: plan.room });
  if (plan.room > 8_000) expect(weigh(request.messages)).toBeLessThanOrEqual(plan.room);
  const summary = random.pick([null, '', 'Done.', random.text(100_000)]);
  return { ...plan.window, digest: digestOf(history, plan, summary), usage: null };
}

function check(
  history: ModelHistory,
  size: ModelSize,
  place: string,
  seen: { over: number },
): void {
  const messages = messagesOfHistory(history, size);
  expectPairs(messages, place);
  expectNewestResults(history, messages, place);
  const plan = planWindow(history, size);
  const isOver = plan.type === 'fits' && plan.isOver;
  if (isOver) seen.over++;
  const sent = weighHistory(history, size);
  const room = roomOf(size, measuredScale(sent));
  const weight = size.fixedChars + weigh(messages);
  if (!isOver && plan.type === 'fits') expect(weight, place).toBeLessThanOrEqual(room);
  expect(
    messages.filter(({ content }) => !textOf(content).isWellFormed()),
    place,
  ).toEqual([]);
}

/** Every call has one result, right behind it, and no result is without its call. */
function expectPairs(messages: readonly UpstreamMessage[], place: string): void {
  const open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') expect(open.shift(), place).toBe(message.tool_call_id);
    else expect(open, place).toEqual([]);
    if (message.role === 'assistant') open.push(...(message.tool_calls ?? []).map(({ id }) => id));
  }
  expect(open, place).toEqual([]);
}

/** In the run that asks; cut, where they had to be, but never a note. */
function expectNewestResults(
  history: ModelHistory,
  messages: readonly UpstreamMessage[],
  place: string,
): void {
  const newest = history.sent.at(-1)?.turns.at(-1);
  for (const [index, call] of newest?.turn.calls.entries() ?? []) {
    const message = messages.find(
      (one) => one.role === 'tool' && one.tool_call_id === call.upstreamId,
    );
    const whole = resultText(newest?.results[index]);
    const sent = String(message?.content);
    const least = Math.min(whole.length, WINDOW_LIMITS.minResultChars) - 2;
    expect(sent.length, place).toBeGreaterThanOrEqual(least);
    expect(sent.slice(0, 50), place).toBe(whole.slice(0, 50));
  }
}

function expectNewestWords(
  history: ModelHistory,
  size: ModelSize,
  room: number,
  place: string,
): void {
  const last = history.sent.at(-1);
  const words = last?.steers.at(-1)?.content ?? last?.run.request.messages.at(-1)?.content ?? '';
  const text = typeof words === 'string' ? words : '';
  if (text.length > room / 2) return;
  const said = messagesOfHistory(history, size).filter(({ role }) => role === 'user');
  expect(
    said.some(({ content }) => textOf(content).includes(text)),
    place,
  ).toBe(true);
}

function textOf(content: UpstreamMessage['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => ('text' in part ? part.text : '')).join('');
}

/** What there was at each request to the model. */
function* prefixesOf(runs: readonly MadeRun[]): Generator<readonly MadeRun[]> {
  for (const [index, run] of runs.entries()) {
    for (let count = 0; count <= (run.turns?.length ?? 0); count++) {
      yield [...runs.slice(0, index), { ...run, turns: run.turns?.slice(0, count) ?? [] }];
    }
  }
}

function where(seed: number, runs: readonly MadeRun[]): string {
  return `seed ${seed}, run ${runs.length}, turn ${runs.at(-1)?.turns?.length}`;
}

function manyRuns(random: RandomTalk): MadeRun[] {
  return Array.from({ length: 1 + random.below(4) }, () => ({
    asked: random.below(5) === 0 ? random.parts() : random.text(random.pick([20, 300, 30_000])),
    earlier: Array.from({ length: 2 * random.below(3) }, () => random.text(500)),
    turns: Array.from({ length: random.below(9) }, () => oneTurn(random)),
    layout: random.pick([undefined, 'a.ts', random.text(random.pick([200, 12_000]))]),
    rules: random.pick([undefined, someRules(random)]),
  }));
}

/** Rules that apply at once, or once a call names their file; some change from run to run. */
function someRules(random: RandomTalk): RuleFile[] {
  const rule = (path: string, kind: RuleFile['kind']): RuleFile => ({
    path,
    kind,
    folder: '.',
    origin: 'workspace',
    globs: ['*.ts'],
    text: random.pick([path, random.text(random.pick([100, 24_000]))]),
  });
  return [
    ...[rule('AGENTS.md', 'always'), rule('ts.mdc', 'glob'), rule('more.mdc', 'glob')],
    rule('db.mdc', 'description'),
  ].filter(() => random.below(4) > 0);
}

function oneTurn(random: RandomTalk): MadeTurn {
  const calls = Array.from({ length: random.below(4) }, () => oneCall(random));
  const steer = random.below(6) === 0 ? random.text(400) : undefined;
  const text = random.text(random.pick([1, 100, 3_000]));
  const promptTokens = random.pick([0, random.below(30_000)]);
  return { text, calls, promptTokens, ...(steer !== undefined && { steer }) };
}

function oneCall(random: RandomTalk): MadeCall {
  const result = random.text(random.pick([10, 1_000, 20_000, 100_000]));
  const name = random.pick(['read_file', 'run_terminal_cmd', 'create_plan', 'none']);
  const target_file = random.pick(['a.ts', 'b.md']);
  const args = {
    target_file,
    path: random.text(40),
    contents: random.text(random.pick([10, 5_000])),
  };
  const kind = random.below(8);
  if (kind === 0) return { name, arguments: args };
  return { name, arguments: args, result, ...(kind === 1 && { error: 'FAILED' }) };
}

class RandomTalk extends Random {
  text(maxChars: number): string {
    const piece = this.pick(['word ', '<&>', '😀', 'line\n', '語', '"quoted" ']);
    return `${this.below(1_000)} ${piece.repeat(Math.ceil(this.below(maxChars) / piece.length))}`;
  }

  parts() {
    const image = { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } };
    return [{ type: 'text' as const, text: this.text(200) }, image, image];
  }
}
