import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EventSource } from 'eventsource';
import { expect, it } from 'vitest';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { answerOf, foldEvent, newResponse } from '../../shared/wire/fold.ts';
import { type House, until, workerdOf } from './house.ts';
import { oneHouse } from './one-house.ts';

const LONG = Array.from({ length: 60 }, (_, line) => `Line ${line} of a long answer.`).join('\n');

const at = oneHouse({
  prepare: (workspace) =>
    writeFileSync(join(workspace, 'task.sh'), 'echo ran >> runs.txt; sleep 3; echo over\n'),
});

it('completes the answer when the runtime is killed in the middle of a text', async () => {
  const { house } = at;
  at.answerWith(() => ({ text: LONG, delayMs: 10 }));
  let response: ChatResponse | undefined;
  let killed = false;
  let shown = '';
  const types = new Set<string>();
  for await (const { event } of house.client.streamChat({
    messages: [{ role: 'user', content: 'Say a lot' }],
  })) {
    types.add(event.type);
    if (event.type === 'response_start') response = newResponse(event.response);
    if (response) foldEvent(response, event);
    if (event.type === 'content_delta') shown += event.delta;
    if (!killed && shown.length > 300) {
      killed = true;
      process.kill(workerdOf(house), 'SIGKILL');
    }
  }
  expect(response?.status).toBe('completed');
  const followed = response && answerOf(response);
  expect(followed?.documents.map(({ content }) => content)).toEqual([LONG]);
  expect(await house.client.getResponse(response?.id ?? '')).toEqual(followed);
  expect(at.requests()).toHaveLength(2);
});

it.each([
  ['the same', true],
  ['something else', false],
])('gives a program the text to print when the model says %s after the kill', async (_, isSame) => {
  const { house } = at;
  const again = isSame ? LONG : LONG.replaceAll('long', 'short');
  at.answerWith((__, turn) => ({ text: turn === 0 ? LONG : again, delayMs: 10 }));
  let [text, rewinds, killed] = ['', 0, false];
  const messages = [{ role: 'user' as const, content: 'Say a lot' }];
  for await (const piece of house.client.streamText({ messages })) {
    if (piece.type === 'rewind') rewinds++;
    text = piece.type === 'text' ? text + piece.text : text.slice(0, piece.length);
    if (killed || text.length <= 300) continue;
    killed = true;
    process.kill(workerdOf(house), 'SIGKILL');
  }
  expect(text).toBe(again);
  expect(rewinds).toBe(isSame ? 0 : 1);
  expect(at.requests()).toHaveLength(2);
});

it('runs a command once when the runtime is killed while it runs', async () => {
  const { house } = at;
  at.answerWith([
    { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'sh task.sh' } }] },
    { text: 'It ran.' },
  ]);
  const runs = () => readFileSync(join(house.workspace, 'runs.txt'), 'utf8');
  const answer = (async () => {
    const events = [];
    for await (const { event } of house.client.streamChat({
      messages: [{ role: 'user', content: 'Run it' }],
    })) {
      events.push(event);
    }
    return events;
  })();
  await until(() => {
    try {
      return runs() === 'ran\n';
    } catch {
      return false;
    }
  });
  process.kill(workerdOf(house), 'SIGKILL');
  const events = await answer;
  expect(runs()).toBe('ran\n');
  const result = events.find(({ type }) => type === 'tool_result');
  expect(result).toMatchObject({
    result: { status: 'success', data: expect.stringContaining('over') },
  });
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'completed' });
});

it('is followed by an independent SSE client over cut connections', async () => {
  const { house } = at;
  at.answerWith(() => ({ text: LONG, delayMs: 10 }));
  const started = await house.fetch('/api/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Say it' }], stream: true }),
  });
  const responseId = started.headers.get('drawbridge-response-id') ?? '';
  await started.body?.cancel();
  for (const framing of ['named', 'data']) {
    const text = await readWithEventSource(house, `${responseId}/events?framing=${framing}`);
    expect(text).toBe(LONG);
  }
});

/** Reads a response's text as a web page would; the connection is cut once on the way. */
async function readWithEventSource(house: House, path: string): Promise<string> {
  const url = new URL(`/api/v1/chat/completions/${path}`, house.ready.url);
  let connections = 0;
  const source = new EventSource(url, {
    fetch: async (input, init) => {
      const headers = { ...init.headers, authorization: `Bearer ${house.ready.token}` };
      const { body, status, redirected, headers: got } = await fetch(input, { ...init, headers });
      const isCut = ++connections === 1;
      return {
        body: isCut ? cutAfter(body, 1_000) : body,
        status,
        redirected,
        headers: got,
        url: `${url}`,
      };
    },
  });
  let text = '';
  const { promise, resolve } = Promise.withResolvers<void>();
  const see = (type: string, data: { delta?: string }) => {
    if (type === 'content_delta') text += data.delta;
    if (type === 'done') resolve();
  };
  source.addEventListener('message', ({ data }) => {
    if (data !== '[DONE]') see(JSON.parse(data).type, JSON.parse(data));
  });
  for (const type of ['content_delta', 'done']) {
    source.addEventListener(type, ({ data }) => see(type, JSON.parse(data)));
  }
  await promise;
  source.close();
  expect(connections).toBe(2);
  return text;
}

/** Breaks like a lost connection after so many bytes. */
function cutAfter(body: ReadableStream<Uint8Array> | null, bytes: number) {
  let left = bytes;
  const cutter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.byteLength;
      if (left < 0) controller.error(new TypeError('terminated'));
      else controller.enqueue(chunk);
    },
  });
  return body?.pipeThrough(cutter) ?? null;
}
