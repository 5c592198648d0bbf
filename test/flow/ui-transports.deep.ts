import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Asked } from '../../shared/wire/approvals.ts';
import { deviceOf } from './allowing.ts';
import { until, workerdOf } from './house.ts';
import { oneHouse } from './one-house.ts';
import { FlowChat, TRANSPORTS, type TransportName, transportTo } from './ui-chat.ts';

const at = oneHouse({
  rules: [
    { tool: 'run_terminal_cmd', pattern: '*', decision: 'allow' },
    { tool: 'run_terminal_cmd', pattern: 'touch *', decision: 'ask' },
  ],
});
const { answerWith } = at;

/** A chat of this file's house, which the test's end stops. */
function newChat(name: TransportName, id?: string): FlowChat {
  const chat = new FlowChat(transportTo(at.house, name), id);
  onTestFinished(() => chat.dispose());
  return chat;
}

const WORDS = Array.from({ length: 400 }, (_, word) => `word${word}`).join(' ');

it.each(TRANSPORTS)('over %s, an answer has text, calls and documents', async (name) => {
  const file = join(at.house.workspace, 'moon.txt');
  onTestFinished(() => rmSync(file, { force: true }));
  answerWith([
    {
      text: 'I write.',
      calls: [{ name: 'write', arguments: { file_path: 'moon.txt', contents: 'moon\n' } }],
    },
    { text: 'Written:\n\n```txt\nmoon\n```' },
  ]);
  const chat = newChat(name);
  await chat.sendMessage({ text: 'Write it' });
  expect([chat.status, chat.error]).toEqual(['ready', undefined]);
  expect(chat.lastMessage).toMatchObject({
    id: expect.stringMatching(/^chat_.*0001$/),
    role: 'assistant',
    metadata: { model: 'scripted', usage: { totalTokens: expect.any(Number) } },
    parts: [
      { type: 'step-start' },
      { type: 'text', text: 'I write.', state: 'done' },
      {
        type: 'data-document',
        data: { type: 'file_edit', metadata: { filePath: 'moon.txt', operation: 'create' } },
      },
      {
        type: 'dynamic-tool',
        toolName: 'write',
        state: 'output-available',
        input: { contents: 'moon\n' },
      },
      { type: 'step-start' },
      { type: 'text', text: 'Written:\n\n```txt\nmoon\n```', state: 'done' },
    ],
  });
});

it('a stop on the socket ends the run at once, and the chat goes on behind it', async () => {
  answerWith(() => ({ text: WORDS, delayMs: 20 }));
  const chat = newChat('socket');
  const aborted = at.model.aborted();
  const sending = chat.sendMessage({ text: 'Say a lot' });
  await until(() => chat.text.includes('word5 '));
  await chat.stop();
  await until(() => at.model.aborted() > aborted);
  await sending;
  const { id = '' } = chat.lastMessage ?? {};
  expect(await at.house.client.getResponse(id)).toMatchObject({ status: 'cancelled' });
  answerWith(({ messages }) => ({ text: `Heard ${JSON.stringify(messages).includes('word5')}.` }));
  await chat.sendMessage({ text: 'Go on' });
  expect(chat.text).toBe('Heard true.');
  expect(chat.lastMessage?.id).toMatch(/0002$/);
});

it.each(TRANSPORTS)('over %s, another page resumes the whole message', async (name) => {
  answerWith(() => ({ text: WORDS, delayMs: 5 }));
  const transport = transportTo(at.house, name);
  const page = new FlowChat(transport);
  const sending = page.sendMessage({ text: 'Say a lot' });
  await until(() => page.text.includes('word9 '));
  const reloaded = newChat(name, page.id);
  const resuming = reloaded.resumeStream();
  await until(() => reloaded.text.includes('word9 '));
  if (name === 'socket') transport.close?.();
  else await page.stop();
  await Promise.all([sending, resuming]);
  expect(reloaded.text).toBe(WORDS);
  expect(reloaded.lastMessage?.id).toBe(page.lastMessage?.id);
  await reloaded.resumeStream();
  expect(reloaded.status).toBe('ready');
});

it('a lost socket leaves the run alone', async () => {
  answerWith(() => ({ text: WORDS, delayMs: 2 }));
  const transport = transportTo(at.house, 'socket');
  const chat = new FlowChat(transport);
  const sending = chat.sendMessage({ text: 'Say a lot' });
  await until(() => chat.text.includes('word9 '));
  const { id = '' } = chat.lastMessage ?? {};
  transport.close?.();
  await sending;
  expect(chat.status).toBe('error');
  await until(async () => (await at.house.client.getResponse(id)).status === 'completed');
});

it('a resume that StrictMode stops and makes again leaves the run alone', async () => {
  answerWith(() => ({ text: WORDS, delayMs: 10 }));
  const page = newChat('socket');
  const sending = page.sendMessage({ text: 'Say a lot' });
  await until(() => page.text.includes('word9 '));
  const reloaded = newChat('socket', page.id);
  const first = reloaded.resumeStream();
  await until(() => reloaded.text.includes('word9 '));
  await Promise.all([first, reloaded.resumeStream(), sending]);
  expect([reloaded.text, page.text]).toEqual([WORDS, WORDS]);
});

it.each(TRANSPORTS)('over %s, messages are answered again and edited in forks', async (name) => {
  answerWith((request) => {
    const said = request.messages.filter(({ role }) => role !== 'system');
    return { text: JSON.stringify(said.map(({ content }) => content)) };
  });
  const chat = newChat(name);
  await chat.sendMessage({ text: 'one' });
  await chat.sendMessage({ text: 'two' });
  const { conversationId } = chat;
  await chat.regenerate();
  expect(chat.conversationId).not.toBe(conversationId);
  expect(chat.text).toContain('two');
  const messageId = chat.messages[0]?.id ?? '';
  await chat.sendMessage({ text: 'another', messageId });
  expect(chat.messages).toHaveLength(2);
  expect(chat.text).not.toContain('one');
});

it.each(TRANSPORTS)('over %s, a chat with two megabytes goes on', async (name) => {
  answerWith(() => ({ text: 'Heard.' }));
  const chat = newChat(name);
  await chat.sendMessage({ text: 'one' });
  chat.lastMessage?.parts.push({ type: 'data-document', data: 'x'.repeat(2_000_000) });
  await chat.sendMessage({ text: 'two' });
  expect([chat.error, chat.text]).toEqual([undefined, 'Heard.']);
  expect(chat.lastMessage?.id).toMatch(/0002$/);
});

it.each(TRANSPORTS)(
  'over %s, a rejection and an approval elsewhere go on in the stream',
  async (name) => {
    answerWith([
      { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'touch asked.txt' } }] },
      { calls: [{ name: 'run_terminal_cmd', arguments: { command: 'touch asked.txt' } }] },
      { text: 'Done.' },
    ]);
    const chat = newChat(name);
    const sending = chat.sendMessage({ text: 'Touch it' });
    const { client } = at.house;
    const asked = async (count: number): Promise<Asked & { conversationId: string }> => {
      const open = () => chat.documents.filter((each) => 'approval' in each.metadata);
      await until(() => chat.documents.length >= count && open().length === 1);
      const approval = Object(open()[0]?.metadata).approval as Asked;
      return { ...approval, conversationId: chat.conversationId };
    };
    const first = await asked(1);
    expect(first.proposal).toMatchObject({ kind: 'command', command: 'touch asked.txt' });
    await client.rejectCall(first, { message: 'Not yet.' });
    // Behind the document of the first call stands its error.
    await client.allowCall(await asked(3), deviceOf(at.house));
    await sending;
    expect(chat.text).toBe('Done.');
    const calls = chat.lastMessage?.parts.filter(({ type }) => type === 'dynamic-tool');
    expect(calls).toMatchObject([{ state: 'output-error' }, { state: 'output-available' }]);
    const { metadata } = chat.documents[0] ?? {};
    expect(metadata).toMatchObject({ answered: { decision: 'reject' } });
  },
);

it('an HTTP chat comes back to its answer when the server was killed', async () => {
  answerWith(() => ({ text: WORDS, delayMs: 10 }));
  const chat = newChat('http');
  const sending = chat.sendMessage({ text: 'Say a lot' });
  await until(() => chat.text.includes('word9 '));
  process.kill(workerdOf(at.house), 'SIGKILL');
  await sending;
  expect(chat.status).toBe('error');
  await until(async () => {
    await chat.resumeStream();
    return chat.status === 'ready';
  });
  expect(chat.text).toBe(WORDS);
  expect(chat.messages).toHaveLength(2);
});

/** A socket without the SDK. */
async function openSocket() {
  const { url } = at.house.ready;
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/ui/socket`);
  onTestFinished(() => socket.close());
  const frames: { type: string; sequence?: number; errorText?: string; requestId: string }[] = [];
  let code: number | undefined;
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
  socket.on('close', (closed) => {
    code = closed;
  });
  await new Promise((resolve) => socket.once('open', resolve));
  return { socket, frames, code: () => code };
}

it('a socket sends the chunks behind the last sequence', async () => {
  answerWith(() => ({ text: WORDS, delayMs: 5 }));
  const chat = newChat('socket');
  const sending = chat.sendMessage({ text: 'Say a lot' });
  await until(() => chat.text.includes('word9 '));
  const { socket, frames } = await openSocket();
  const headers = { authorization: `Bearer ${at.house.ready.token}` };
  const resume = { type: 'resume', id: chat.id, headers, body: {} };
  socket.send(JSON.stringify({ ...resume, requestId: 'a' }));
  socket.send(JSON.stringify({ ...resume, requestId: 'b', lastSequence: 7 }));
  await until(() => frames.filter(({ type }) => type === 'end').length === 2);
  const chunksOf = (id: string) =>
    frames.filter(({ type, requestId }) => type === 'chunk' && requestId === id);
  const [all, rest] = [chunksOf('a'), chunksOf('b')];
  expect(all.map(({ sequence }) => sequence)).toEqual([...all.keys()]);
  const unnamed = ({ requestId: _, ...frame }: object & { requestId: string }) => frame;
  expect(rest.map(unnamed)).toEqual(all.slice(8).map(unnamed));
  await sending;
  socket.send(JSON.stringify({ ...resume, requestId: 'c' }));
  await until(() => frames.some(({ type }) => type === 'no-active'));
});

it.each(['{', '[]', '{"type":"dance"}', '{"type":"send","requestId":"a"}'])(
  'a socket is closed by the frame %s',
  async (frame) => {
    const { socket, code } = await openSocket();
    socket.send(frame);
    await until(() => code() === 1008);
  },
);

it('a socket answers a frame without a token with an error', async () => {
  const { socket, frames } = await openSocket();
  const frame = { type: 'resume', requestId: 'a', id: 'x', headers: {}, body: {} };
  socket.send(JSON.stringify(frame));
  await until(() => frames.length > 0);
  expect(frames).toEqual([
    { type: 'error', requestId: 'a', errorText: expect.stringContaining('UNAUTHENTICATED') },
  ]);
});
