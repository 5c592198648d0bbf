/** The model of all schedules: it answers by the plan that the message names, and says when it is to die. */
import { vi } from 'vitest';
import { Random } from '../../../../bench/fuzz/random.ts';
import type { ScriptedRequest } from '../../../far-ends/reply-script.ts';
import type { Plan } from './plan.ts';
import type { CrashPoint } from './points.ts';
import { type Frames, framesOf } from './reply.ts';
import type { PlannedTurn } from './turns.ts';

/**
 * What one schedule shares with what runs inside its objects, the model and {@link watchCopies}. Those only leave a wish
 * here: a promise would take the test into a context in which it may touch nothing.
 */
export interface Scripted {
  readonly plan: Plan;
  /** Set once the first messages are accepted: no answer begins before. */
  mayAnswer: boolean;
  /** A crash that the model or a copy has come to. Anyone who makes it happen takes it out. */
  readonly wishes: CrashPoint[];
  /** Attempts at each turn so far, by `message.turn`. */
  readonly attempts: Map<string, number>;
  /** Set when no one waits for anything of it any more. */
  isOver: boolean;
}

export function newScripted(plan: Plan): Scripted {
  return { plan, mayAnswer: false, wishes: [], attempts: new Map(), isOver: false };
}

/** What a message says: which schedule it is of, and which of its messages. */
export function contentOf(seed: number, message: number): string {
  return `schedule ${seed}, message ${message}`;
}

/** Puts the model behind the Worker's `fetch`. */
export function playModel(schedules: ReadonlyMap<number, Scripted>): void {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = (await new Request(input, init).json()) as ScriptedRequest;
    const asked = request.messages.findLastIndex(({ role }) => role === 'user');
    const said = JSON.stringify(request.messages[asked]);
    // Messages in a row are sent as one.
    const all = said.matchAll(/schedule (\d+), message (\d+)/g);
    const [, seed, message] = [...all].at(-1)?.map(Number) ?? [];
    const scripted = schedules.get(seed ?? -1);
    if (!scripted || message === undefined) throw new Error(`no schedule for ${said}`);
    while (!scripted.mayAnswer && !scripted.isOver) await tick();
    const turn = request.messages.slice(asked).filter(({ role }) => role === 'assistant').length;
    return answer(scripted, message, turn, init?.signal ?? undefined);
  });
}

/** It answers the last message of the user, be it one that steers: so what it says says which messages it knew. */
function answer(
  scripted: Scripted,
  message: number,
  turn: number,
  signal: AbortSignal | undefined,
): Response {
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
  const frames = framesOf(planned, step, attempt, random);
  return stream(scripted, planned, frames, attempt, random, signal);
}

/** The frames as bytes that are split anywhere; at the attempt's point it wishes to die and says nothing more. */
function stream(
  scripted: Scripted,
  planned: PlannedTurn,
  { shown, end }: Frames,
  attempt: number,
  random: Random,
  signal: AbortSignal | undefined,
): Response {
  const death = planned.deaths[attempt - 1];
  const parts = [...splitBytes(shown.join(''), random)];
  const rest = splitBytes(end.join(''), random);
  const dyingAt = { before_first_byte: 0, in_text: random.below(parts.length + 1), none: Infinity };
  const limit = death === 'before_turn_commit' ? parts.length : dyingAt[death ?? 'none'];
  const all = [...parts, ...rest];
  const diesAtEnd = planned.crashAtEnd && attempt === planned.deaths.length + 1;
  let sent = 0;
  let isHeard = true;
  signal?.addEventListener('abort', () => {
    isHeard = false;
  });
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (sent === limit) scripted.wishes.push(death ?? 'in_text');
        while (sent === limit && isHeard && !scripted.isOver) await tick();
        if (!isHeard) return controller.error(new Error('no one listens'));
        if (sent === all.length - 1 && diesAtEnd) {
          scripted.wishes.push('at_the_end');
          // Goes on as soon as the crash is on its way: it comes before the turn is stored, or after.
          while (scripted.wishes.includes('at_the_end') && !scripted.isOver) await tick();
        }
        const part = all[sent++];
        if (part) controller.enqueue(part);
        else if (planned.kind === 'cut') controller.error(new Error('connection reset'));
        else controller.close();
      },
      cancel() {
        isHeard = false;
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

/** A wait inside an object: it ends with its object. */
export function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2));
}
