import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { expect, it, onTestFinished } from 'vitest';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, makeRepository, startHouse } from './house.ts';

const WRITING = { name: 'write', arguments: { path: 'a.txt', contents: 'one\n' } };

it('a run over a bridge is streamed in Cursor’s shape, to a client that leaves and comes back', async () => {
  const model = await startScriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? { text: 'Wrote a.txt, as you asked.', delayMs: 20 }
      : { text: 'I write.', calls: [WRITING] },
  );
  onTestFinished(() => model.close());
  await using house = await startHouse({ modelUrl: model.baseUrl, prepare: makeRepository });
  const body = JSON.stringify({ prompt: { text: 'Write a.txt' }, env: { type: 'machine' } });
  const created = await house.fetch('/v1/agents', { method: 'POST', body });
  const { agent, run } = (await created.json()) as { agent: { id: string }; run: { id: string } };
  const path = `/v1/agents/${agent.id}/runs/${run.id}/stream`;

  const first = await readFrames(house, path, undefined, (frame) => frame.data.includes('Wrote'));
  const lastId = first.findLast(({ id }) => id !== undefined)?.id;
  const second = await readFrames(house, path, lastId);
  const frames = [...first, ...second];
  expect(frames.map(textOf).join('')).toBe('I write.\n\nWrote a.txt, as you asked.');
  expect(frames.flatMap(callOf)).toEqual([
    ...['open_worktree running', 'open_worktree completed'],
    ...['write running', 'write completed'],
    ...['close_worktree running', 'close_worktree completed'],
  ]);
  expect(second[0]?.event).toBe('status');
  expect(frames.slice(-2).map(({ event, data }) => [event, JSON.parse(data)])).toEqual([
    [
      'result',
      {
        runId: run.id,
        status: 'FINISHED',
        text: 'Wrote a.txt, as you asked.',
        durationMs: expect.any(Number),
      },
    ],
    ['done', {}],
  ]);
  expect(existsSync(join(house.workspace, 'a.txt'))).toBe(false);
});

/** Reads to the end of the stream, or leaves it behind the frame that is enough. */
async function readFrames(
  house: House,
  path: string,
  lastEventId: string | undefined,
  isEnough: (frame: EventSourceMessage) => boolean = () => false,
): Promise<EventSourceMessage[]> {
  const leaving = new AbortController();
  const headers: Record<string, string> =
    lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const { body } = await house.fetch(path, { headers, signal: leaving.signal });
  const frames: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (frame) => frames.push(frame) });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  while (reader && !frames.some(isEnough)) {
    const { value, done } = await reader.read();
    if (done) return frames;
    parser.feed(value);
  }
  leaving.abort();
  return frames;
}

function textOf({ event, data }: EventSourceMessage): string {
  return event === 'assistant' ? JSON.parse(data).text : '';
}

function callOf({ event, data }: EventSourceMessage): string[] {
  if (event !== 'tool_call') return [];
  const { name, status } = JSON.parse(data);
  return [`${name} ${status}`];
}
