/** (i) What a repository adds to the request of each turn: time, bytes, and the share that is not as it was before. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { alternate } from '../alternate.ts';
import { nowMs } from '../clock.ts';
import { connectEmptyBridge } from '../empty-bridge.ts';
import type { Figure } from '../figure.ts';
import { type House, startHouse } from '../house.ts';
import { connectRealBridge } from '../real-bridge.ts';
import { frame, type RecordingUpstream, startRecordingUpstream } from '../recording-upstream.ts';
import type { Ground } from '../side.ts';
import { median } from '../statistics.ts';

const FILES = 3_000;
const FOLDERS = 100;
/** Messages of a conversation. Each is answered in two turns: a call that needs no bridge, and a text. */
const MESSAGES = 6;
const WARM_UPS = 2;
const ROUNDS = 8;

/** From the turn after this one on, a request must nearly be the one before. */
const SETTLED_TURN = 3;

export async function measureAssembling(ground: Ground): Promise<Figure[]> {
  await using upstream = await startRecordingUpstream(answer);
  const settings = { OPENAI_BASE_URL: upstream.baseUrl };
  await using house = await startHouse(ground, undefined, settings);
  makeRepository(house.workspaceDir);
  await using real = await connectRealBridge(house);
  await using empty = await connectEmptyBridge(house, { status: 'success', data: '' });
  const { bare, ours } = await alternate(
    { bare: empty, ours: real },
    { warmUps: WARM_UPS, rounds: ROUNDS },
    ({ bridgeId }) => converse(house, upstream, bridgeId),
  );
  const figure = (what: string, of: (sample: Sample) => number, max?: number): Figure[] => {
    const [without, within] = [bare, ours].map((samples) => median(samples.map(of))) as [
      number,
      number,
    ];
    const added = {
      what: `${what}: added`,
      unit: 'ms',
      bare: null,
      ours: within - without,
    } as const;
    return [
      { what, unit: 'ms', bare: without, ours: within },
      { ...added, ...(max !== undefined && { target: { max } }) },
    ];
  };
  return [
    ...figure('message to the first request', ({ firstMs }) => firstMs, 50),
    ...figure('later message to its request', ({ messageMs }) => messageMs),
    ...figure('answer to the next request', ({ turnMs }) => turnMs, 5),
    ...(['firstBytes', 'messageBytes', 'turnBytes'] as const).map((of) => ({
      what: BYTES[of],
      unit: 'bytes' as const,
      bare: median(bare.map((sample) => sample[of])),
      ours: median(ours.map((sample) => sample[of])),
    })),
    {
      what: `not as in the request before, after turn ${SETTLED_TURN}: at most`,
      unit: '%',
      bare: null,
      ours: Math.max(...ours.map(({ newPercent }) => newPercent)),
      target: { max: 5 },
    },
  ];
}

const BYTES = {
  firstBytes: 'the first request',
  messageBytes: 'a later message adds to its request',
  turnBytes: 'another turn adds to its request',
} as const;

/** A repository with a commit. A look at it shows the model its tree, its branch and its rules. */
function makeRepository(folder: string): void {
  for (let number = 0; number < FOLDERS; number++) {
    const path = join(folder, 'packages', `package-${number}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < FILES / FOLDERS; file++) {
      writeFileSync(join(path, `module-${file}.ts`), `export const value = ${file};\n`);
    }
  }
  writeFileSync(join(folder, 'AGENTS.md'), 'Use tabs.\n');
  git(folder, 'init');
  git(folder, 'add', '--all');
  const author = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost'];
  git(folder, ...author, 'commit', '--message', 'first');
}

function git(folder: string, ...args: readonly string[]): void {
  execFileSync('git', args, { cwd: folder, stdio: 'ignore' });
}

interface Sample {
  readonly firstMs: number;
  readonly messageMs: number;
  readonly turnMs: number;
  readonly firstBytes: number;
  readonly messageBytes: number;
  readonly turnBytes: number;
  readonly newPercent: number;
}

/** A new conversation in a clean repository. Before each message a file appears and another one changes. */
async function converse(
  house: House,
  upstream: RecordingUpstream,
  bridgeId: string,
): Promise<Sample> {
  git(house.workspaceDir, 'checkout', '--', '.');
  git(house.workspaceDir, 'clean', '--force', '-d');
  let place: object = { bridgeId };
  const messageMs: number[] = [];
  const turnMs: number[] = [];
  const bodies: string[] = [];
  for (let message = 0; message < MESSAGES; message++) {
    touch(house.workspaceDir);
    const sentMs = nowMs();
    const body = { ...place, model: 'recorded', messages: [MESSAGE], stream: true };
    const { headers, ended } = await house.request('chat/completions', { method: 'POST', body });
    await ended;
    place = { conversationId: z.string().parse(headers['drawbridge-conversation-id']) };
    const [first, second] = upstream.take();
    if (!first || !second) throw new Error('A message was not answered in two turns.');
    messageMs.push(first.askedMs - sentMs);
    turnMs.push(second.askedMs - first.answeredMs);
    bodies.push(first.body, second.body);
  }
  const [firstMs = 0, ...later] = messageMs;
  const grown = bodies.slice(1).map((body, index) => bytesOf(body) - bytesOf(bodies[index]));
  return {
    firstMs,
    messageMs: median(later),
    turnMs: median(turnMs),
    firstBytes: bytesOf(bodies[0]),
    messageBytes: median(grown.filter((_, index) => index % 2 === 1)),
    turnBytes: median(grown.filter((_, index) => index % 2 === 0)),
    newPercent: Math.max(
      ...bodies.slice(SETTLED_TURN).map((body, index) => {
        return 100 * newShare(bodies[SETTLED_TURN - 1 + index] ?? '', body);
      }),
    ),
  };
}

const MESSAGE = { role: 'user', content: 'Go on with the next step, and say what you have done.' };

let touched = 0;

function touch(folder: string): void {
  const path = join(folder, 'packages', `package-${++touched % FOLDERS}`);
  writeFileSync(join(path, `new-${touched}.ts`), '');
  writeFileSync(join(path, 'module-0.ts'), `export const value = ${touched};\n`);
}

function bytesOf(text = ''): number {
  return Buffer.byteLength(text);
}

/** The share of a request's bytes that are neither its beginning nor its end in the request before. */
function newShare(before: string, now: string): number {
  const shorter = Math.min(before.length, now.length);
  let begin = 0;
  while (begin < shorter && before[begin] === now[begin]) begin++;
  let end = 0;
  while (end < shorter - begin && before.at(-1 - end) === now.at(-1 - end)) end++;
  return bytesOf(now.slice(begin, now.length - end)) / bytesOf(now);
}

const Request = z.object({ messages: z.array(z.object({ role: z.string() })) });

/** Calls a tool of the Worker after a message of the user, and answers with a text after the call. */
function answer(body: string): string {
  const { messages } = Request.parse(JSON.parse(body));
  const isCalled = messages.at(-1)?.role === 'tool';
  const delta = isCalled ? { content: TEXT } : { tool_calls: [callNumber(messages.length)] };
  const ending = { delta: {}, finish_reason: isCalled ? 'stop' : 'tool_calls' };
  return `${frame({ delta })}${frame(ending)}data: [DONE]\n\n`;
}

const TEXT = 'The step is done: the module now reads its value once, and its test passes. '.repeat(
  4,
);

/** Ids must not repeat within a conversation. */
function callNumber(number: number) {
  const todos = [{ id: 'step', content: 'The next step', status: 'in_progress' }];
  const args = JSON.stringify({ merge: true, todos });
  return {
    index: 0,
    id: `call_${number}`,
    type: 'function',
    function: { name: 'todo_write', arguments: args },
  };
}
