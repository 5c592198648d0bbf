/** Histories made by hand, as the store would give them. */

import type { MessageContent } from '../../../../../shared/api/requests.ts';
import { BUILT_IN } from '../../../../../shared/tools/toolbox.ts';
import type { Todo } from '../../../../../shared/wire/documents.ts';
import type { RuleFile } from '../../../../../shared/wire/rules.ts';
import type { ToolResult } from '../../../../../shared/wire/tunnel.ts';
import { LeftOut } from '../../../../../worker/conversation/memory/window/left-out.ts';
import type { ModelSize } from '../../../../../worker/conversation/memory/window/size.ts';
import type {
  AnsweredTurn,
  ModelHistory,
  SaidInRun,
} from '../../../../../worker/conversation/memory/window/transcript.ts';
import type {
  Call,
  Machine,
  NewWindow,
  Run,
  Steer,
  Turn,
} from '../../../../../worker/conversation/store/rows.ts';

/** One call with its result: what it read, or what went wrong. */
export interface MadeCall {
  readonly name?: string;
  readonly arguments?: Record<string, unknown>;
  /** Undefined for a call that has none. */
  readonly result?: string | undefined;
  readonly error?: string;
  readonly todos?: readonly Todo[];
}

export interface MadeTurn {
  readonly text?: string;
  readonly calls?: readonly MadeCall[];
  readonly promptTokens?: number;
  /** What the user said after it. */
  readonly steer?: string;
}

export interface MadeRun {
  readonly asked: MessageContent;
  /** Said in the request before it, by the roles in turn: user, assistant. */
  readonly earlier?: readonly string[];
  readonly turns?: readonly MadeTurn[];
  /** What the bridge reports of its files; no bridge without it. */
  readonly layout?: string | undefined;
  /** The rules that the bridge reports; only with `layout`. */
  readonly rules?: readonly RuleFile[] | undefined;
  /** How it ended, where that matters. */
  readonly status?: Run['status'];
}

/** Turns are numbered through all runs, and every call has an id of its own. */
export function historyOf(runs: readonly MadeRun[], window: NewWindow | null = null): ModelHistory {
  let number = 0;
  const sent = runs.map((made, index): SaidInRun => {
    const ordinal = index + 1;
    const firstTurn = number + 1;
    const turns = (made.turns ?? []).map((turn) => answered(turn, ++number, ordinal));
    const steers = steersOf(made, ordinal);
    return { run: runOf(made, ordinal, firstTurn), before: 0, turns, steers };
  });
  return under({ window: null, sent, toolbox: BUILT_IN, leftOut: new LeftOut([]) }, window);
}

/** The same under another window, as the store would read it then. */
export function under(history: ModelHistory, window: NewWindow | null): ModelHistory {
  if (!window) return history;
  const { from } = window;
  const sent = history.sent
    .filter(({ run }) => run.ordinal >= from.run)
    .map((one) => (one.run.ordinal === from.run ? behind(one, from.turns) : one));
  const numbered = { ...window, number: 1, run: sent.at(-1)?.run.ordinal ?? 1 };
  return { ...history, window: numbered, sent };
}

function behind({ before, turns, ...sent }: SaidInRun, count: number): SaidInRun {
  return { ...sent, before: count, turns: turns.slice(count - before) };
}

export function sizeOf(changes: Partial<ModelSize> = {}): ModelSize {
  return {
    model: 'm',
    takesImages: true,
    contextWindow: 10_000,
    maxOutputTokens: undefined,
    fixedChars: 1_000,
    ...changes,
  };
}

function runOf(
  { asked, earlier = [], status = 'running', layout, rules }: MadeRun,
  ordinal: number,
  firstTurn: number,
): Run {
  const before = earlier.map((content, index) => {
    const role = index % 2 === 0 ? ('user' as const) : ('assistant' as const);
    return { role, content };
  });
  return {
    ordinal,
    status,
    first: 0,
    started: 1,
    last: null,
    request: {
      type: 'message',
      model: 'm',
      mode: 'agent',
      messages: [...before, { role: 'user', content: asked }],
      createdMs: 0,
    },
    machine: layout === undefined ? null : machineWith(layout, rules),
    takeovers: 0,
    deadline: null,
    failures: 0,
    notBefore: 0,
    firstTurn,
  };
}

function machineWith(projectLayout: string, files: readonly RuleFile[] | undefined): Machine {
  const rules = files && { rules: { files: [...files], leftOut: [] } };
  const context = { os: 'o', shell: 's', workspacePath: '/w', projectLayout, ...rules };
  return { tools: [], context };
}

function answered(
  { text = '', calls = [], promptTokens = 0 }: MadeTurn,
  number: number,
  run: number,
): AnsweredTurn {
  const turn: Turn = {
    number,
    run,
    text,
    reasoning: null,
    calls: calls.map((call, index) => callOf(call, `call_${number}_${index}`)),
    usage: { promptTokens, completionTokens: 0, totalTokens: promptTokens },
    lastSequence: number,
    atMs: 0,
  };
  return { turn, results: calls.map(resultOf) };
}

function callOf({ name = 'read_file', arguments: args = {} }: MadeCall, id: string): Call {
  const rawArguments = JSON.stringify(args);
  return { callId: id, upstreamId: id, documentId: id, name, rawArguments, arguments: args };
}

function resultOf({ result, error, todos }: MadeCall): ToolResult | undefined {
  if (error !== undefined) return { status: 'error', code: error, data: result ?? '' };
  if (result === undefined) return undefined;
  return { status: 'success', data: result, ...(todos && { metadata: { list: todos } }) };
}

function steersOf({ turns = [] }: MadeRun, run: number): Steer[] {
  return turns.flatMap(({ steer }, index) =>
    steer === undefined ? [] : [{ number: index + 1, run, turns: index + 1, content: steer }],
  );
}
