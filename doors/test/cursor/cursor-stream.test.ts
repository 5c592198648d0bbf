import { expect, it } from 'vitest';
import { Agent } from '../../../shared/api/agents.ts';
import {
  askCursor,
  cursor,
  newAccount,
  post,
  untilStatus,
} from '../../../test/worker/agents/agents.ts';
import { scriptModel } from '../../../test/worker/api.ts';
import {
  endFrames,
  type HeldModel,
  holdModel,
  textFrame,
  thoughtFrame,
} from '../../../test/worker/conversation/held-model.ts';
import { type RawEvent, SseReader } from '../../../test/worker/follow/sse-reader.ts';
import { quicken } from '../../../test/worker/follow/watching.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';

const TODOS = { merge: false, todos: [{ id: 'a', content: 'Look', status: 'pending' }] };
const END = 'That was 😀 it.';
const PROSE = `Look:\n\n\`\`\`js\nlet a;\n\`\`\`\n\n${END}`;

it('streams each event of a run in Cursor’s shape', async () => {
  const { run, frames } = await streamed();
  const calling = { callId: expect.stringMatching(/^call_/), name: 'todo_write', args: TODOS };
  const toolCall = {
    type: 'mcp',
    args: { providerIdentifier: 'drawbridge', toolName: 'todo_write', args: TODOS },
  };
  const result = { status: 'success', data: expect.any(String) };
  const value = { content: [{ text: { text: expect.any(String) } }], isError: false };
  const ids = { callId: calling.callId, modelCallId: calling.callId };
  expect(merged(frames)).toEqual([
    { event: 'status', data: { runId: run.id, status: 'RUNNING' } },
    { event: 'thinking', data: { text: 'Let me think.' } },
    { event: 'interaction_update', data: { type: 'thinking-delta', text: 'Let me think.' } },
    { event: 'assistant', data: { text: 'First.' } },
    { event: 'interaction_update', data: { type: 'text-delta', text: 'First.' } },
    { event: 'tool_call', data: { ...calling, status: 'running' } },
    { event: 'interaction_update', data: { type: 'tool-call-started', ...ids, toolCall } },
    { event: 'tool_call', data: { ...calling, status: 'completed', result } },
    {
      event: 'interaction_update',
      data: {
        type: 'tool-call-completed',
        ...ids,
        toolCall: { ...toolCall, result: { status: 'success', value } },
      },
    },
    { event: 'assistant', data: { text: `\n\n${PROSE}` } },
    { event: 'interaction_update', data: { type: 'text-delta', text: `\n\n${PROSE}` } },
    { event: 'status', data: { runId: run.id, status: 'FINISHED' } },
    {
      event: 'result',
      data: { runId: run.id, status: 'FINISHED', text: PROSE, durationMs: expect.any(Number) },
    },
    { event: 'done', data: {} },
  ]);
  for (const { event, id } of frames) {
    const isPlaced = event !== 'status' && event !== 'done';
    expect(id).toEqual(isPlaced ? expect.stringMatching(/^\d+-1$/) : undefined);
  }
});

it('continues a stream after every id, and begins with the status', async () => {
  const { account, path, frames } = await streamed();
  for (const id of idsOf(frames)) {
    const seen = frames.findLastIndex((frame) => frame.id === id);
    const rest = await read(account, path, id);
    expect(rest[0]?.event).toBe('status');
    expect(textOf(rest)).toBe(textOf(frames.slice(seen + 1)));
    expect(rest.filter(isCall)).toEqual(frames.slice(seen + 1).filter(isCall));
    expect(rest.at(-1)?.event).toBe('done');
  }
});

it('continues a stream inside a text at every character', async () => {
  const { account, path, frames } = await streamed();
  const last = Number.parseInt(idsOf(frames).at(-1) ?? '', 10);
  const rests = new Set<string>();
  for (let position = last; position > last - PROSE.length; position--) {
    const answer = await stream(account, path, `${position}-1`);
    rests.add(answer.ok ? textOf(await framesOf(answer)) : '😀 split');
  }
  // The gap before the document comes with its first character.
  const suffixes = Array.from({ length: END.length }, (_, at) => END.slice(at + 1));
  const whole = suffixes.filter((suffix) => suffix.isWellFormed());
  expect([...rests].filter((rest) => END.endsWith(rest)).sort()).toEqual(whole.sort());
  expect(rests).toContain('😀 split');
});

it('lets readers join and leave the stream of a running run at any moment', async () => {
  const { account, path, model } = await begun();
  const reply = await model.next();
  const first = new SseReader(await stream(account, path));
  const back: { readonly seen: string; readonly reader: SseReader }[] = [];
  for (const piece of ['One', ' two', ' three', ' four.']) {
    reply.send(textFrame(piece));
    await untilText(first, piece);
    const id = first.raw.findLast((frame) => frame.id !== undefined)?.id;
    const reader = new SseReader(await stream(account, path, id));
    back.push({ seen: textOf(first.raw), reader });
  }
  reply.send(...endFrames('stop'));
  reply.close();
  await drain(first);
  expect(textOf(first.raw)).toBe('One two three four.');
  for (const { seen, reader } of back) {
    await drain(reader);
    expect(seen + textOf(reader.raw)).toBe('One two three four.');
    expect(reader.raw.at(-1)?.event).toBe('done');
  }
});

it('begins the stream of a run that waits for its turn with CREATING', async () => {
  const account = newAccount();
  const model = holdModel();
  const { agent } = await cursor(account, 'POST', '', { prompt: { text: 'Go' } });
  const first = await model.next();
  const path = `/${agent.id}/runs/${await queue(account, agent.id)}/stream`;
  const reader = new SseReader(await stream(account, path));
  await until(reader, () => reader.raw.length > 0);
  first.answer({ text: 'First.' });
  (await model.next()).answer({ text: 'Second.' });
  await drain(reader);
  const statuses = reader.raw.filter(({ event }) => event === 'status');
  expect(statuses.map(({ data }) => JSON.parse(data).status)).toEqual([
    ...['CREATING', 'RUNNING', 'FINISHED'],
  ]);
  expect(textOf(reader.raw)).toBe('Second.');
});

it('sends heartbeats, and ends after FOLLOW_LIMITS.maxLifeMs without `done`', async () => {
  const { account, path, model } = await begun();
  await model.next();
  quicken({ [FOLLOW_LIMITS.heartbeatMs]: 5, [FOLLOW_LIMITS.maxLifeMs]: 100 });
  const reader = new SseReader(await stream(account, path));
  await drain(reader);
  expect(new Set(reader.raw.map(({ event }) => event))).toEqual(new Set(['status', 'heartbeat']));
  expect(reader.raw.at(-1)).toEqual({ event: 'heartbeat', id: undefined, data: '{}' });
});

it('reports why a run failed', async () => {
  const account = newAccount();
  scriptModel(() => new Response('{}', { status: 400 }));
  const { agent, run } = await cursor(account, 'POST', '', { prompt: { text: 'Go' } });
  await untilStatus(account, agent.id.replace('bc-', 'conv_'), 'error');
  const frames = await read(account, `/${agent.id}/runs/${run.id}/stream`);
  expect(frames.map(({ event, data }) => [event, JSON.parse(data)])).toEqual([
    ['status', { runId: run.id, status: 'ERROR' }],
    ['result', { runId: run.id, status: 'ERROR', durationMs: expect.any(Number) }],
    ['error', { code: 'upstream_error', message: expect.any(String) }],
    ['done', {}],
  ]);
});

it('reports a cancelled run with the words so far', async () => {
  const { account, path, model } = await begun();
  (await model.next()).send(textFrame('Half'));
  const reader = new SseReader(await stream(account, path));
  await untilText(reader, 'Half');
  await cursor(account, 'POST', path.replace('/stream', '/cancel'));
  await drain(reader);
  expect(dataOf(reader.raw, 'result')).toMatchObject({ status: 'CANCELLED' });
  expect(reader.raw.at(-1)?.event).toBe('done');
});

it('reports the deletion of the agent', async () => {
  const { account, path, model } = await begun();
  await model.next();
  const reader = new SseReader(await stream(account, path));
  await until(reader, () => reader.raw.length > 0);
  await cursor(account, 'DELETE', path.replace(/\/runs.*/, ''));
  await drain(reader);
  expect(reader.raw.slice(-2).map(({ event, data }) => [event, JSON.parse(data)])).toEqual([
    ['error', { code: 'not_found', message: expect.any(String) }],
    ['done', {}],
  ]);
});

it('repeats the result for a client that has seen the whole run', async () => {
  const { account, path, frames } = await streamed();
  const last = frames.findLast(({ id }) => id !== undefined)?.id;
  const events = (await read(account, path, last)).map(({ event }) => event);
  expect(events).toEqual(['status', 'result', 'done']);
});

it.each(['x', '12', '12-', '-1', '1.5-1', '12-2', '99999999999-1', '9999999999999999999-1'])(
  'refuses the Last-Event-ID %s',
  async (id) => {
    const { account, path } = await streamed();
    const refused = await stream(account, path, id);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: 'invalid_last_event_id' } });
  },
);

it('refuses another account, and another agent’s run', async () => {
  const { account, path, run } = await streamed();
  const other = await cursor(account, 'POST', '', { prompt: { text: 'Go' } });
  for (const [who, what] of [
    [newAccount(), path],
    [account, `/${other.agent.id}/runs/${run.id}/stream`],
    [account, path.replace(/.\/stream/, 'f/stream')],
  ] as const) {
    const refused = await stream(who, what);
    expect(refused.status).toBe(404);
    expect(await refused.json()).toMatchObject({ error: { code: 'not_found' } });
  }
});

/** A finished run, and its frames as a client saw them live. */
async function streamed() {
  const { account, path, run, model } = await begun();
  const reader = new SseReader(await stream(account, path));
  const first = await model.next();
  first.send(thoughtFrame('Let me '), thoughtFrame('think.'));
  first.answer({ text: 'First.', calls: [{ name: 'todo_write', arguments: TODOS }] });
  (await model.next()).answer({ text: PROSE, chunkChars: 3 });
  await drain(reader);
  return { account, path, run, frames: reader.raw };
}

async function begun() {
  const account = newAccount();
  const model: HeldModel = holdModel();
  const { agent, run } = await cursor(account, 'POST', '', { prompt: { text: 'Go' } });
  return { account, run, model, path: `/${agent.id}/runs/${run.id}/stream` };
}

/** A message to the agent that waits for its turn. Returns the id of its run. */
async function queue(account: string, agentId: string): Promise<string> {
  const id = agentId.replace('bc-', 'conv_');
  const agent = Agent.parse(await (await post(account, `/${id}/followup`, { prompt: 'x' })).json());
  return agent.responseId.replace('chat_', 'run-');
}

function stream(account: string, path: string, lastEventId?: string): Promise<Response> {
  const headers: Record<string, string> =
    lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  return askCursor(account, 'GET', path, { headers });
}

async function read(account: string, path: string, lastEventId?: string): Promise<RawEvent[]> {
  return await framesOf(await stream(account, path, lastEventId));
}

async function framesOf(response: Response): Promise<RawEvent[]> {
  const reader = new SseReader(response);
  expect(reader.status).toBe(200);
  await drain(reader);
  return reader.raw;
}

/** Reads to the end of the stream. */
async function drain(reader: SseReader): Promise<void> {
  while (await reader.readOnce());
}

async function until(reader: SseReader, condition: () => boolean): Promise<void> {
  while (!condition()) {
    if (!(await reader.readOnce())) throw new Error(`ended with ${JSON.stringify(reader.raw)}`);
  }
}

function untilText(reader: SseReader, text: string): Promise<void> {
  return until(reader, () => textOf(reader.raw).includes(text));
}

function idsOf(frames: readonly RawEvent[]): string[] {
  return [...new Set(frames.flatMap(({ id }) => (id === undefined ? [] : [id])))];
}

function isCall({ event, data }: RawEvent): boolean {
  return event === 'tool_call' || data.includes('"toolCall"');
}

function textOf(frames: readonly RawEvent[]): string {
  return frames
    .map(({ event, data }) => (event === 'assistant' ? JSON.parse(data).text : ''))
    .join('');
}

function dataOf(frames: readonly RawEvent[], name: string): unknown {
  return JSON.parse(frames.find(({ event }) => event === name)?.data ?? 'null');
}

/** The frames, with those of one text as one. */
function merged(frames: readonly RawEvent[]): { event: string | undefined; data: unknown }[] {
  const merged: { event: string | undefined; data: { text?: string; type?: string } }[] = [];
  for (const { event, data } of frames) {
    const read = JSON.parse(data);
    const same = merged
      .slice(-2)
      .find((other) => other.event === event && other.data.type === read.type);
    if (same && read.text !== undefined) same.data.text += read.text;
    else merged.push({ event, data: read });
  }
  return merged;
}
