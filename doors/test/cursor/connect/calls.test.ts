import { describe, expect, it, vi } from 'vitest';
import { REQUEST_LIMITS } from '../../../../shared/limits.ts';
import { chat, scriptModel } from '../../../../test/worker/api.ts';
import { readResponse } from '../../../../test/worker/conversation/conversing.ts';
import { holdModel } from '../../../../test/worker/conversation/held-model.ts';
import { configure } from '../../../../test/worker/settings.ts';
import { callMethod, enveloped, envelopesOf, gzipped, saying, streamError } from './calling.ts';

it.each(['ChatService/StreamChat', 'ChatService/StreamUnifiedChatWithTools'])(
  '%s answers as AiService/StreamChat does',
  async (method) => {
    scriptModel(() => ({ text: 'Hello there.' }));
    const shownBy = async (name: string, body: Uint8Array<ArrayBuffer>, headers = {}) => {
      const response = await callMethod(name, body, { headers });
      return [response.status, response.headers.get('content-type'), await envelopesOf(response)];
    };
    for (const body of [enveloped(saying('hello')), enveloped({}), enveloped([])])
      expect(await shownBy(method, body)).toEqual(await shownBy('StreamChat', body));
    const stranger = { authorization: 'Bearer x' };
    const body = enveloped(saying('hello'));
    expect(await shownBy(method, body, stranger)).toEqual(
      await shownBy('StreamChat', body, stranger),
    );
    expect((await callMethod(method, '{}', { headers: { 'content-type': 'x/y' } })).status).toBe(
      415,
    );
  },
);

describe('StreamChat', () => {
  it('StreamChat streams the text of the answer, and ends with an empty trailer', async () => {
    const requests = scriptModel(() => ({ text: 'Hello there.' }));
    const response = await callMethod('StreamChat', enveloped(saying('hello')));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/connect+json');
    const envelopes = await envelopesOf(response);
    expect(envelopes.at(-1)).toEqual({ flags: 2, text: '{}' });
    const pieces = envelopes.slice(0, -1).map(({ text }) => JSON.parse(text).text);
    expect(pieces.join('')).toBe('Hello there.');
    expect(JSON.stringify(requests[0]?.messages)).toContain('hello');
  });

  it.each([
    ['names of JSON and of the .proto file', { modelDetails: { modelName: 'm' } }],
    ['names of the .proto file', { model_details: { model_name: 'm' } }],
    ['fields that it does not know', { modelDetails: { modelName: 'm', key: 1 }, planId: [1] }],
    [
      'null for a field that is not set',
      { modelDetails: { modelName: 'm' }, conversationId: null },
    ],
  ])('takes %s', async (_, more) => {
    const requests = scriptModel(() => ({ text: 'Hi.' }));
    await envelopesOf(await callMethod('StreamChat', enveloped(saying('hello', more))));
    expect(requests[0]?.model).toBe('m');
  });

  it('StreamChat sends the model the whole conversation', async () => {
    const requests = scriptModel(() => ({ text: 'Hi.' }));
    const conversation = [
      { text: 'one', type: 1 },
      { text: 'two', type: 'MESSAGE_TYPE_AI' },
      { text: '', type: 'MESSAGE_TYPE_AI' },
      { text: 'three', type: 1 },
    ];
    await envelopesOf(await callMethod('StreamChat', enveloped({ conversation })));
    const [, ...sent] = requests[0]?.messages ?? [];
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  it('StreamChat continues a conversation of ours with the last message only', async () => {
    const requests = scriptModel(() => ({ text: 'Hi.' }));
    const { conversationId } = await chat('first');
    const conversation = [
      { text: 'not sent', type: 1 },
      { text: 'second', type: 1 },
    ];
    const body = enveloped({ conversation, conversationId });
    const response = await callMethod('StreamChat', body);
    expect(response.headers.get('drawbridge-conversation-id')).toBe(conversationId);
    await envelopesOf(response);
    expect(JSON.stringify(requests[1]?.messages)).toMatch(/first.*second/);
    expect(JSON.stringify(requests[1]?.messages)).not.toContain('not sent');
  });

  it('StreamChat does not continue a conversation of another account', async () => {
    scriptModel(() => ({ text: 'Hi.' }));
    const { conversationId } = await chat('mine');
    const body = enveloped(saying('yours?', { conversationId }));
    const response = await callMethod('StreamChat', body, { account: 'eve' });
    expect(await streamError(response)).toMatchObject({ code: 'not_found' });
  });

  it('StreamChat ignores a conversation id of another program', async () => {
    scriptModel(() => ({ text: 'Hi.' }));
    const body = enveloped(saying('hello', { conversationId: crypto.randomUUID() }));
    expect(await streamError(await callMethod('StreamChat', body))).toBeUndefined();
  });

  it('StreamChat reports a failed run in the trailer, after the text', async () => {
    scriptModel(() => Response.json({ error: { message: 'no such key' } }, { status: 401 }));
    const response = await callMethod('StreamChat', enveloped(saying('hello')));
    expect(response.status).toBe(200);
    expect(await streamError(response)).toMatchObject({ code: 'unavailable' });
  });

  it('StreamChat ends at the client’s time limit, and cancels the run', async () => {
    const model = holdModel();
    const headers = { 'connect-timeout-ms': '30' };
    const response = await callMethod('StreamChat', enveloped(saying('hello')), { headers });
    const reply = await model.next();
    expect(await streamError(response)).toMatchObject({ code: 'deadline_exceeded' });
    await reply.untilAborted();
    const responseId = response.headers.get('drawbridge-response-id') ?? '';
    await vi.waitFor(async () =>
      expect(await readResponse(responseId)).toMatchObject({ status: 'cancelled' }),
    );
  });
});

describe('AvailableModels', () => {
  const models = async (body: BodyInit, headers = {}) =>
    await (await callMethod('AvailableModels', body, { headers })).json();

  it('AvailableModels lists the models that chat', async () => {
    configure({
      MODELS: [{ id: 'large' }, { id: 'vendor/small' }, { id: 'embedder', roles: ['embed'] }],
    });
    expect(await models('{}')).toMatchObject({
      modelNames: expect.arrayContaining(['large', 'vendor/small']),
      models: expect.arrayContaining([{ name: 'large' }, { name: 'vendor/small' }]),
    });
    expect(JSON.stringify(await models('{}'))).not.toContain('embedder');
  });

  it('AvailableModels takes a compressed request', async () => {
    const body = await gzipped(Uint8Array.from('{"includeAll":true}', byteOf));
    expect(await models(body, { 'content-encoding': 'gzip' })).toHaveProperty('modelNames');
  });

  it.each<[string, BodyInit, Record<string, string>, number, string]>([
    ['JSON that is none', '{', {}, 400, 'invalid_argument'],
    ['a list', '[]', {}, 400, 'invalid_argument'],
    ['broken gzip', 'no gzip', { 'content-encoding': 'gzip' }, 400, 'invalid_argument'],
    ['another compression', '{}', { 'content-encoding': 'br' }, 501, 'unimplemented'],
    ['another version', '{}', { 'connect-protocol-version': '2' }, 400, 'invalid_argument'],
    ['a wrong token', '{}', { authorization: 'Bearer nonsense' }, 401, 'unauthenticated'],
    ['a huge body', 'x'.repeat(REQUEST_LIMITS.maxBodyBytes + 1), {}, 429, 'resource_exhausted'],
  ])('refuses %s with the status of its code', async (_, body, headers, status, code) => {
    const response = await callMethod('AvailableModels', body, { headers });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code, message: expect.any(String) });
  });
});

const PROTO = { 'content-type': 'application/connect+proto' };

/** The code is `invalid_argument` unless it is given. */
type Hostile = [string, Uint8Array<ArrayBuffer>, (string | undefined)?, Record<string, string>?];

/** Binary messages that are none. */
const BROKEN: readonly [string, Uint8Array<ArrayBuffer>][] = [
  ['with a string that ends too late', new Uint8Array([18, 5, 1])],
  ['with a length of 4 GB', new Uint8Array([18, 255, 255, 255, 255, 15])],
  ['with an endless varint', new Uint8Array(40).fill(255)],
  ['with groups that nest without end', new Uint8Array(500_000).fill(0x0b)],
  ['with a field 0', new Uint8Array([2, 0])],
  ['with a group that never ends', new Uint8Array(500).fill(0x0b)],
  ['with text in broken UTF-8', new Uint8Array([18, 3, 10, 1, 255])],
  ['with a million empty messages', emptyMessages(500_000)],
];
const HI = enveloped(saying('hello'));
const human = (type?: number) => enveloped({ conversation: [{ text: 'a', type }] });
const packedBy = (encoding: string) => ({ 'connect-content-encoding': encoding });

describe('a hostile call', () => {
  it.each<Hostile>([
    ['without a message', new Uint8Array(), 'unimplemented'],
    ['with half an envelope', new Uint8Array([0, 0, 0])],
    ['whose length is beyond its body', lying(saying('hello'), 1)],
    ['whose length is the largest', lying(saying('hello'), 2 ** 32 - 100)],
    ['with bytes behind its message', lying(saying('hello'), -1), 'unimplemented'],
    ['with the flag of an end', enveloped(saying('hello'), 2)],
    ['with unknown flags', enveloped(saying('hello'), 0x80)],
    ['compressed without saying how', enveloped(saying('hello'), 1), 'internal'],
    ['not compressed as it says', enveloped(saying('hello'), 1), undefined, packedBy('gzip')],
    ['compressed in another way', HI, 'unimplemented', packedBy('zstd')],
    ['with a time that is none', HI, undefined, { 'connect-timeout-ms': '-1' }],
    ['with JSON that is none', enveloped(new Uint8Array([0x7b]))],
    ['with JSON in broken UTF-8', enveloped(new Uint8Array([0x22, 0xff, 0x22]))],
    ...BROKEN.map(([what, bytes]): Hostile => [what, enveloped(bytes), undefined, PROTO]),
    ['without a conversation', enveloped({})],
    ['with an empty message', enveloped(saying('  '))],
    ['that ends with the model', human(2)],
    ['of an unknown type', human(7)],
    ['of no type', human()],
    ['with a wrong token', HI, 'unauthenticated', { authorization: 'x' }],
  ])(
    '%s gets the code in its trailer, and starts nothing',
    async (_, body, code = 'invalid_argument', headers = {}) => {
      const requests = scriptModel(() => ({ text: 'Hi.' }));
      const response = await callMethod('StreamChat', body, { headers });
      expect(response.status).toBe(200);
      expect(await streamError(response)).toMatchObject({ code, message: expect.any(String) });
      expect(requests).toEqual([]);
    },
  );

  it('refuses a message that unpacks to more than a body may have', async () => {
    const packed = await gzipped(new Uint8Array(REQUEST_LIMITS.maxBodyBytes * 4));
    const headers = { 'connect-content-encoding': 'gzip' };
    const response = await callMethod('StreamChat', enveloped(packed, 1), { headers });
    expect(await streamError(response)).toMatchObject({ code: 'resource_exhausted' });
  });

  it('stops unpacking at the bound and one step', async () => {
    const packed = await gzipped(new Uint8Array(32 * 1024 * 1024));
    const given = vi.spyOn(WritableStreamDefaultWriter.prototype, 'write');
    const headers = { 'connect-content-encoding': 'gzip' };
    const response = await callMethod('StreamChat', enveloped(packed, 1), { headers });
    expect(await streamError(response)).toMatchObject({ code: 'resource_exhausted' });
    const bytes = given.mock.calls.map(([step]) => (step as Uint8Array).length);
    expect(bytes.every((length) => length <= 1024)).toBe(true);
    expect(bytes.length).toBeLessThan(5);
  });

  it.each([1, 1023, 1024, 1025, 300_000])(
    'unpacks a message of %i random letters',
    async (length) => {
      const requests = scriptModel(() => ({ text: 'Hi.' }));
      const letters = Array.from(crypto.getRandomValues(new Uint8Array(Math.min(length, 65_536))));
      const text = letters.map((byte) => String.fromCharCode(97 + (byte % 26))).join('');
      const whole = text.repeat(Math.ceil(length / text.length)).slice(0, length);
      const packed = await gzipped(Uint8Array.from(JSON.stringify(saying(whole)), byteOf));
      const headers = { 'connect-content-encoding': 'gzip' };
      const response = await callMethod('StreamChat', enveloped(packed, 1), { headers });
      expect(await streamError(response)).toBeUndefined();
      expect(JSON.stringify(requests)).toContain(whole);
    },
  );

  it('names the wrong field as the caller knows it', async () => {
    const body = enveloped({
      conversation: [
        { text: 'a', type: 1 },
        { text: 'b', type: 7 },
      ],
    });
    expect(await streamError(await callMethod('StreamChat', body))).toEqual({
      code: 'invalid_argument',
      message: 'conversation[1].type: must be MESSAGE_TYPE_HUMAN or MESSAGE_TYPE_AI',
    });
  });

  it.each(['text/plain', 'application/json', 'application/grpc+proto'])(
    'lists the content types to a call with %s',
    async (type) => {
      const response = await callMethod('StreamChat', '{}', { headers: { 'content-type': type } });
      expect(response.status).toBe(415);
      expect(response.headers.get('accept-post')).toContain('application/connect+proto');
    },
  );

  it('answers unimplemented to an unknown method', async () => {
    const response = await callMethod('StreamUnifiedChat', '{}');
    expect(response.status).toBe(501);
    expect(await response.json()).toMatchObject({ code: 'unimplemented' });
  });
});

it('skips fields of binary messages that it does not know, of every wire type', async () => {
  const requests = scriptModel(() => ({ text: 'Hi.' }));
  const zeros = (count: number) => Array<number>(count).fill(0);
  const unknown = [0xa0, 6, 1, 0xa1, 6, ...zeros(8), 0xa2, 6, 1, 0, 0xa5, 6, ...zeros(4)];
  const group = [0xa3, 6, 0x08, 1, 0xa4, 6];
  const message = [18, 6, 10, 2, 0x68, 0x69, 16, 1];
  const body = enveloped(new Uint8Array([...unknown, ...group, ...message]));
  const response = await callMethod('StreamChat', body, { headers: PROTO });
  expect(response.headers.get('content-type')).toBe('application/connect+proto');
  const envelopes = await envelopesOf(response);
  expect(envelopes.at(-1)).toEqual({ flags: 2, text: '{}' });
  expect(envelopes[0]?.text).toMatch(/^\n.Hi\.$/s);
  expect(JSON.stringify(requests[0]?.messages)).toContain('hi');
});

function byteOf(character: string): number {
  return character.charCodeAt(0);
}

/** An envelope whose length is wrong by so much. */
function lying(message: object, by: number): Uint8Array<ArrayBuffer> {
  const bytes = enveloped(message);
  const view = new DataView(bytes.buffer);
  view.setUint32(1, view.getUint32(1) + by);
  return bytes;
}

function emptyMessages(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(count * 2);
  for (let at = 0; at < bytes.length; at += 2) bytes[at] = 18;
  return bytes;
}
