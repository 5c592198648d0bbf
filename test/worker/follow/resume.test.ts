import { expect, it, vi } from 'vitest';
import type { ChatResponse, ConversationView } from '../../../shared/wire/documents.ts';
import { answerOf, foldConversation, foldEvent, newResponse } from '../../../shared/wire/fold.ts';
import { Conversation } from '../../../worker/conversation/object.ts';
import { ask, call } from '../api.ts';
import { endFrames, holdModel, textFrame } from '../conversation/held-model.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import { type ReadEvent, SseReader, textOf, unitsOf } from './sse-reader.ts';

const TEXT = 'Look:\n\n```js\nlet a;\n```\n\nThat was 😀 it.';

it('gives exactly the rest from every position, and inside a character a 400', async () => {
  const { responseId, conversationId } = await answered();
  for (const path of [
    `chat/completions/${responseId}/events`,
    `conversations/${conversationId}/events`,
  ]) {
    const all = await readTo(path, 0);
    const units = unitsOf(all);
    const first = all[0]?.id ?? 0;
    const last = all.at(-1)?.id ?? 0;
    expect(units.map((unit) => Number.parseInt(unit, 10))).toEqual(
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
    );
    for (let after = first; after < last; after++) {
      if (isLowHalf(units[after - first + 1])) {
        expect((await call(`${path}?after=${after}`)).status).toBe(400);
        continue;
      }
      const rest = await readTo(path, after, last);
      expect(withoutFinals(unitsOf(rest))).toEqual(withoutFinals(units.slice(after - first + 1)));
      expect(rest.map(({ event }) => finalOf(event))).toEqual(
        all.slice(-rest.length).map(({ event }) => finalOf(event)),
      );
    }
  }
});

it('begins although the object dies as it is asked first', async () => {
  const { responseId } = await answered();
  vi.spyOn(Conversation.prototype, 'fetch').mockRejectedValueOnce(new Error('reset'));
  expect((await readTo(`chat/completions/${responseId}/events`, 0)).at(-1)?.event).toMatchObject({
    type: 'done',
  });
});

it('goes on behind what a browser has seen since, not where its address began', async () => {
  const { responseId, conversationId } = await answered();
  const { position } = await (
    await call(`conversations/${conversationId}`)
  ).json<ConversationView>();
  for (const path of [
    `chat/completions/${responseId}/events`,
    `conversations/${conversationId}/events`,
  ]) {
    const [first, second, ...others] = await readTo(path, 0);
    const headers = { 'last-event-id': `${second?.id}` };
    const rest = new SseReader(await call(`${path}?after=${first?.id}`, { headers }));
    expect(await rest.until((events) => events.at(-1)?.id === position)).toEqual(others);
    await rest.leave();
  }
  const headers = { 'last-event-id': `${position}` };
  const path = `chat/completions/${responseId}/events?after=${position - 1}`;
  expect((await call(path, { headers })).status).toBe(204);
});

it('gives the same documents as JSON, as a stream and in the conversation', async () => {
  const { responseId, conversationId } = await answered();
  const json = (await (await call(`chat/completions/${responseId}`)).json()) as ChatResponse;
  expect(foldResponse(await readTo(`chat/completions/${responseId}/events`, 0))).toEqual(json);
  const view = (await (await call(`conversations/${conversationId}`)).json()) as ConversationView;
  expect(view.responses).toEqual([json]);
  const folded: ConversationView = { ...view, messages: [], responses: [] };
  for (const { event } of await readTo(`conversations/${conversationId}/events`, 0)) {
    foldConversation(folded, event);
  }
  expect(folded).toEqual(view);
});

it('lets a late joiner in at any moment without a gap or an overlap', async () => {
  const model = holdModel();
  const started = await ask('go', { stream: true });
  const responseId = started.headers.get('drawbridge-response-id') ?? '';
  const path = `chat/completions/${responseId}/events`;
  const first = new SseReader(started);
  const reply = await model.next();
  const joined: SseReader[] = [];
  const pieces = ['One', ' two', '', ' three', ' four.'];
  for (const [index, piece] of pieces.entries()) {
    // Every second one joins while the piece is on its way.
    if (index % 2 === 0) reply.send(textFrame(piece));
    const late = new SseReader(await call(path));
    const resumed = new SseReader(await call(`${path}?after=${lastId(first)}`));
    joined.push(late);
    if (index % 2 === 1) reply.send(textFrame(piece));
    await first.untilText(pieces.slice(0, index + 1).join(''));
    await resumed.leave();
  }
  reply.send(...endFrames('stop'));
  const whole = await first.toEnd();
  expect(textOf(whole)).toBe(pieces.join(''));
  for (const late of joined) expect(unitsOf(await late.toEnd())).toEqual(unitsOf(whole));
});

it('shows the followers of a response nothing of another one', async () => {
  const model = holdModel();
  const started = await ask('one', { stream: true });
  const conversationId = started.headers.get('drawbridge-conversation-id') ?? '';
  const first = new SseReader(started);
  const reply = await model.next();
  const second = new SseReader(await ask('two', { stream: true, conversationId }));
  const everything = new SseReader(await call(`conversations/${conversationId}/events`));
  reply.answer({ text: 'First.' });
  (await model.next()).answer({ text: 'Second.' });
  const one = await first.toEnd();
  const two = await second.toEnd();
  const all = await everything.until((events) => count(events, 'done') === 2);
  const types = ['message', 'response_start', 'document_start', 'document_end', 'done'];
  for (const [events, content] of [
    [one, 'First.'],
    [two, 'Second.'],
  ] as const) {
    expect(events.map(({ event }) => event.type).filter((type) => !type.endsWith('delta'))).toEqual(
      types,
    );
    expect(textOf(events)).toBe(content);
  }
  const sorted = [...unitsOf(one), ...unitsOf(two)].sort();
  expect(unitsOf(all).sort()).toEqual(sorted);
  await everything.leave();
});

it('cuts live output of a tool at any position too', async () => {
  const model = holdModel();
  const bridge = await connectBridge();
  const started = await ask('run', { stream: true, bridgeId: bridge.bridgeId });
  const responseId = started.headers.get('drawbridge-response-id') ?? '';
  const reader = new SseReader(started);
  (await model.next()).answer({
    calls: [{ name: 'run_terminal_cmd', arguments: { command: 'x' } }],
  });
  const { callId } = await bridge.nextCall();
  bridge.send({ type: 'output', callId, delta: 'abcdef' });
  bridge.succeed(callId, 'abcdef', { output: 'abcdef', exitCode: 0 });
  (await model.next()).answer({ text: 'ok' });
  const all = await reader.toEnd();
  const output = all.find(({ event }) => event.type === 'tool_output');
  const path = `chat/completions/${responseId}/events`;
  const rest = await readTo(path, Number(output?.id) - 2);
  expect(rest[0]?.event).toMatchObject({ type: 'tool_output', delta: 'ef' });
});

/** One response of several documents that has finished, in a conversation of its own. */
async function answered(): Promise<{ responseId: string; conversationId: string }> {
  const model = holdModel();
  const started = await ask('go', { stream: true });
  const reader = new SseReader(started);
  (await model.next()).answer({ text: TEXT, chunkChars: 3 });
  await reader.toEnd();
  return {
    responseId: started.headers.get('drawbridge-response-id') ?? '',
    conversationId: started.headers.get('drawbridge-conversation-id') ?? '',
  };
}

/** The events after a cursor, up to the first `done`. */
async function readTo(path: string, after: number, last?: number): Promise<ReadEvent[]> {
  const reader = new SseReader(await call(`${path}?after=${after}`));
  const events = await reader.until((read) =>
    last === undefined ? count(read, 'done') > 0 : (read.at(-1)?.id ?? 0) >= last,
  );
  await reader.leave();
  return events;
}

function foldResponse(events: readonly ReadEvent[]): ChatResponse | undefined {
  let response: ChatResponse | undefined;
  for (const { event } of events) {
    if (event.type === 'response_start') response = newResponse(event.response);
    if (response) foldEvent(response, event);
  }
  return response && answerOf(response);
}

function count(events: readonly ReadEvent[], type: string): number {
  return events.filter(({ event }) => event.type === type).length;
}

function lastId(reader: SseReader): number {
  return reader.events.at(-1)?.id ?? 0;
}

function isLowHalf(unit: string | undefined): boolean {
  const code = Number(unit?.split(' ')[3]);
  return code >= 0xdc00 && code <= 0xdfff;
}

function withoutFinals(units: readonly string[]): string[] {
  return units.map((unit) => unit.replace(/,"finalContent":.*/, '}'));
}

function finalOf(event: ReadEvent['event']): string | undefined {
  return event.type === 'document_end' ? event.finalContent : undefined;
}
