/** The model of all schedules: it answers by the plan that the request's `model` names, and says when it is to die. */
import { vi } from 'vitest';
import { Random } from '../../../../bench/fuzz/random.ts';
import type { ScriptedRequest } from '../../../far-ends/reply-script.ts';
import { endFrames, textFrame } from '../held-model.ts';
import type { CrashPoint, Plan, PlannedTurn } from './plan.ts';

/**
 * What one schedule shares with the model. The model runs inside the conversation's object, so it only leaves a wish
 * here: a promise would take the test into a context in which it may touch nothing.
 */
export interface Scripted {
  readonly plan: Plan;
  /** Set once all messages are accepted: no answer begins before. */
  mayAnswer: boolean;
  /** A crash that the model has come to. Whoever makes it happen sets it back. */
  wish: CrashPoint | null;
  /** Attempts at each turn so far, by `message.turn`. */
  readonly attempts: Map<string, number>;
}

export function modelNameOf(seed: number): string {
  return `schedule-${seed}`;
}

/** Puts the model behind the Worker's `fetch`. */
export function playModel(schedules: ReadonlyMap<string, Scripted>): void {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = (await new Request(input, init).json()) as ScriptedRequest;
    const scripted = schedules.get(request.model);
    if (!scripted) throw new Error(`no schedule for ${request.model}`);
    while (!scripted.mayAnswer) await tick();
    return answer(scripted, request);
  });
}

function answer(scripted: Scripted, { messages }: ScriptedRequest): Response {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const message = Number(/message (\d+)/.exec(JSON.stringify(messages[asked]))?.[1]);
  const turn = messages.slice(asked).filter(({ role }) => role === 'assistant').length;
  const planned = scripted.plan.messages[message]?.[turn];
  if (!planned) throw new Error(`schedule ${scripted.plan.seed} has no turn ${message}.${turn}`);
  const step = `${message}.${turn}`;
  const attempt = (scripted.attempts.get(step) ?? 0) + 1;
  scripted.attempts.set(step, attempt);
  if (planned.kind === 'refused') return Response.json({ error: 'no' }, { status: 400 });
  if (planned.kind === 'busy' && attempt === 1) {
    return Response.json({ error: 'busy' }, { status: 503 });
  }
  const random = new Random(scripted.plan.seed * 1_000 + message * 100 + turn * 10 + attempt);
  return stream(scripted, planned, framesOf(planned, step, attempt, random), attempt, random);
}

interface Frames {
  /** What is shown, and ends with every fence closed. */
  readonly shown: readonly string[];
  readonly end: readonly string[];
}

/** Each attempt says something else, as a model does: a document that were mixed from two would show it. */
function framesOf(planned: PlannedTurn, step: string, attempt: number, random: Random): Frames {
  const { kind, pieces, reasoning } = planned;
  const text = Array.from({ length: pieces }, (_, piece) =>
    piece % 2 === 0
      ? `Text ${step}.${piece} of attempt ${attempt}, and a 😀 in it.\n\n`
      : `\`\`\`js\nlet piece = '${step}.${piece}.${attempt}';\n\`\`\`\n\n`,
  ).join('');
  const calls = callsOf(planned, step);
  const said = reasoning ? [reasoningFrame(`Thinking about ${step}, attempt ${attempt}. `)] : [];
  const shown = [...said, ...slices(text, random).map(textFrame), ...calls];
  if (kind === 'error_event')
    return { shown, end: [`data: ${JSON.stringify({ error: { message: 'overloaded' } })}\n\n`] };
  if (kind === 'cut') return { shown, end: [] };
  return { shown, end: endFrames(calls.length > 0 ? 'tool_calls' : 'stop') };
}

/** The path of a call names its step, so that the bridge can count by it. */
function callsOf({ kind, calls }: PlannedTurn, step: string): string[] {
  if (kind === 'todo') {
    return callFrames(0, step, 'todo_write', { merge: true, todos: [{ id: step, content: 'x' }] });
  }
  if (kind === 'question') return callFrames(0, step, 'ask_question', QUESTION);
  return calls.flatMap(({ asks }, index) => {
    const path = `${step}.${index}${asks ? '.asks' : ''}`;
    return callFrames(index, step, 'read_file', { target_file: path });
  });
}

const QUESTION = {
  title: 'First:',
  questions: [{ id: 'q', prompt: 'Which?', options: [option('a'), option('b')] }],
};

function option(id: string) {
  return { id, label: `Option ${id}` };
}

function callFrames(index: number, step: string, name: string, args: object): string[] {
  const text = JSON.stringify(args);
  const half = Math.ceil(text.length / 2);
  const id = `up_${step}_${index}`;
  const start = { index, id, type: 'function', function: { name, arguments: text.slice(0, half) } };
  const rest = { index, function: { arguments: text.slice(half) } };
  return [start, rest].map((call) => deltaFrame({ tool_calls: [call] }));
}

function reasoningFrame(text: string): string {
  return deltaFrame({ reasoning_content: text });
}

function deltaFrame(delta: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, finish_reason: null, delta }] })}\n\n`;
}

/** In pieces of 1 to 24 characters, never inside of one: JSON has no half characters. */
function slices(text: string, random: Random): string[] {
  const characters = [...text];
  const pieces: string[] = [];
  while (characters.length > 0) pieces.push(characters.splice(0, 1 + random.below(24)).join(''));
  return pieces;
}

/** The frames as bytes that are split anywhere; at the attempt's point it wishes to die and says nothing more. */
function stream(
  scripted: Scripted,
  planned: PlannedTurn,
  { shown, end }: Frames,
  attempt: number,
  random: Random,
): Response {
  const death = planned.deaths[attempt - 1];
  const parts = [...splitBytes(shown.join(''), random)];
  const rest = splitBytes(end.join(''), random);
  const dyingAt = { before_first_byte: 0, in_text: random.below(parts.length + 1), none: Infinity };
  const limit = death === 'before_turn_commit' ? parts.length : dyingAt[death ?? 'none'];
  const all = [...parts, ...rest];
  const diesAtEnd = planned.crashAtEnd && attempt === planned.deaths.length + 1;
  let sent = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (sent === limit) scripted.wish = death ?? null;
        while (sent === limit) await tick();
        if (sent === all.length - 1 && diesAtEnd) {
          scripted.wish = 'at_the_end';
          // Goes on as soon as the crash is on its way: it comes before the turn is stored, or after.
          while (scripted.wish === 'at_the_end') await tick();
        }
        const part = all[sent++];
        if (part) controller.enqueue(part);
        else if (planned.kind === 'cut') controller.error(new Error('connection reset'));
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

function splitBytes(text: string, random: Random): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + random.below(random.chance(0.2) ? 20 : 400);
    parts.push(bytes.slice(at, at + size));
    at += size;
  }
  return parts;
}

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2));
}
