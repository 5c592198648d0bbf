import { abortAllDurableObjects } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { askCursor, cursor, newAccount } from '../../../test/worker/agents/agents.ts';
import { endFrames, holdModel, textFrame } from '../../../test/worker/conversation/held-model.ts';
import { SseReader } from '../../../test/worker/follow/sse-reader.ts';
import { quicken } from '../../../test/worker/follow/watching.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { callMethod, enveloped, saying, splitEnvelopes } from '../cursor/connect/calling.ts';
import { ChunkReader, complete } from '../openai/completing.ts';

/** A client of one wire. */
interface Client {
  readonly text: string;
  /** How the stream says that it ended. */
  readonly end: string | undefined;
  /** The signs of life. */
  readonly beats: number;
  /** False at the end. A client that can come back to its stream does so before. */
  readOnce(): Promise<boolean>;
}

interface Wire {
  readonly ask: (signal?: AbortSignal) => Promise<Client>;
  readonly finished: string;
  /** The error of a stream that cannot go on. A wire without one can be resumed, and shows what comes later beside it. */
  readonly interrupted: string | null;
}

const WIRES: Readonly<Record<string, Wire>> = {
  OpenAI: { ask: askOpenAi, finished: 'stop', interrupted: 'answer_interrupted' },
  Connect: { ask: askConnect, finished: 'ok', interrupted: 'internal' },
  Cursor: { ask: askCursorRun, finished: 'FINISHED', interrupted: null },
};

describe.each(Object.entries(WIRES))('a stream of %s', (_, { ask, finished, interrupted }) => {
  it.each([
    ['the same', 'The whole', 'The whole answer.', true],
    ['something else', 'Half an ans', 'Half a loaf', false],
    ['less', 'Yes, and more', 'Yes', false],
  ])('outlives a crash after which the model says %s', async (_, first, second, isSame) => {
    const model = holdModel();
    const asking = ask();
    (await model.next()).send(textFrame(first));
    const client = await asking;
    await untilText(client, first);
    await abortAllDurableObjects();
    const again = await model.next();
    again.send(textFrame(second.slice(0, 6)), textFrame(second.slice(6)), ...endFrames('stop'));
    again.close();
    while (await client.readOnce());
    const shown = interrupted === null ? `${first}\n\n${second}` : isSame ? second : first;
    expect([client.text, client.end]).toEqual([
      shown,
      isSame ? finished : (interrupted ?? finished),
    ]);
  });

  it('shows while the model is silent that it is alive', async () => {
    quicken({ [FOLLOW_LIMITS.heartbeatMs]: 5 });
    const model = holdModel();
    const asking = ask();
    const reply = await model.next();
    const client = await asking;
    while (client.beats === 0) expect(await client.readOnce()).toBe(true);
    expect(client.text).toBe('');
    reply.answer({ text: 'At last.' });
    while (await client.readOnce());
    expect([client.text, client.end]).toEqual(['At last.', finished]);
  });

  it.runIf(interrupted)('ends its run with a client that leaves', async () => {
    const model = holdModel();
    const leaving = new AbortController();
    const asking = ask(leaving.signal);
    const reply = await model.next();
    reply.send(textFrame('Half'));
    await untilText(await asking, 'Half');
    leaving.abort();
    await reply.untilAborted();
  });
});

async function untilText(client: Client, text: string): Promise<void> {
  while (!client.text.includes(text)) expect(await client.readOnce()).toBe(true);
}

async function askOpenAi(signal?: AbortSignal): Promise<Client> {
  const reader = new ChunkReader(await complete({ stream: true }, signal ? { signal } : {}));
  return {
    get text() {
      return reader.content;
    },
    get end() {
      return reader.errors[0]?.code ?? reader.finishReason ?? undefined;
    },
    get beats() {
      return reader.comments.length;
    },
    readOnce: () => reader.readOnce(),
  };
}

async function askConnect(signal?: AbortSignal): Promise<Client> {
  const body = enveloped(saying('go'));
  const response = await callMethod('StreamChat', body, signal ? { signal } : {});
  const reader = response.body?.getReader();
  const client = { text: '', end: undefined as string | undefined, beats: 0, readOnce };
  async function readOnce(): Promise<boolean> {
    const { value, done } = (await reader?.read()) ?? { done: true };
    for (const { flags, text } of splitEnvelopes(value ?? new Uint8Array())) {
      const message = JSON.parse(text);
      if (flags === 2) client.end = message.error?.code ?? 'ok';
      else if (message.text === undefined) client.beats++;
      else client.text += message.text;
    }
    return !done;
  }
  return client;
}

async function askCursorRun(): Promise<Client> {
  const account = newAccount();
  const { agent, run } = await cursor(account, 'POST', '', { prompt: { text: 'Go' } });
  const seen: SseReader['raw'][number][] = [];
  const open = async () => {
    const id = seen.findLast((frame) => frame.id !== undefined)?.id;
    const headers: Record<string, string> = id === undefined ? {} : { 'last-event-id': id };
    const path = `/${agent.id}/runs/${run.id}/stream`;
    return new SseReader(await askCursor(account, 'GET', path, { headers }));
  };
  let reader = await open();
  const of = (name: string) =>
    seen.filter(({ event }) => event === name).map(({ data }) => JSON.parse(data));
  return {
    get text() {
      return of('assistant')
        .map(({ text }) => text)
        .join('');
    },
    get end() {
      return of('result')[0]?.status;
    },
    get beats() {
      return of('heartbeat').length;
    },
    async readOnce() {
      const isOpen = await reader.readOnce();
      seen.push(...reader.raw.splice(0));
      if (isOpen || of('done').length > 0) return isOpen;
      reader = await open();
      return true;
    },
  };
}
