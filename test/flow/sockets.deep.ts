import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { ClientError, createClient, foldEvent, newResponse } from '../../client/index.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { workerdOf } from './house.ts';
import { oneHouse } from './one-house.ts';

const one = oneHouse();
const TEXT = Array.from({ length: 200 }, (_, index) => `Word ${index}, 👋.`).join(' ');

/** Follows over sockets, and counts them. */
function socketClient(url = one.house.ready.url) {
  const opened: string[] = [];
  const openSocket = (address: string) => {
    opened.push(address);
    return new WebSocket(address);
  };
  return { opened, client: createClient({ url, token: one.house.ready.token, openSocket }) };
}

async function follow(url?: string, interfere?: (documents: number) => void) {
  const { client, opened } = socketClient(url);
  const { responseId } = await client.sendMessage({ messages: [{ role: 'user', content: 'go' }] });
  let response: ChatResponse | undefined;
  for await (const { event } of client.followResponse(responseId)) {
    if (event.type === 'response_start') response = newResponse(event.response);
    else if (response) foldEvent(response, event);
    interfere?.(response?.documents[0]?.content?.length ?? 0);
  }
  return { opened, client, response };
}

it('follows a response over a socket, to its end', async () => {
  one.answerWith(() => ({ text: TEXT, delayMs: 1 }));
  const { opened, client, response } = await follow();
  expect(response).toMatchObject({ status: 'completed', documents: [{ content: TEXT }] });
  expect(opened).toHaveLength(1);
  expect(opened[0]).not.toContain(one.house.ready.token);
  const events = client.followResponse(response?.id ?? '', { cursor: 100_000 });
  expect(await all(events)).toMatchObject([{ event: { type: 'snapshot' } }]);
});

it('comes back with its cursor when the server is killed', async () => {
  one.answerWith(() => ({ text: TEXT, delayMs: 5 }));
  let isKilled = false;
  const { opened, response } = await follow(undefined, (chars) => {
    if (chars < 500 || isKilled) return;
    isKilled = true;
    process.kill(workerdOf(one.house), 'SIGKILL');
  });
  expect(response).toMatchObject({ status: 'completed', documents: [{ content: TEXT }] });
  expect(opened.length).toBeGreaterThan(1);
});

it('ends for good when the conversation is deleted', async () => {
  one.answerWith(() => ({ text: 'Hello.' }));
  const { client, response } = await follow();
  const events = client.followConversation(response?.conversationId ?? '');
  const ended = all(events).catch((error: unknown) => error);
  await client.deleteConversation(response?.conversationId ?? '');
  const error = await ended;
  expect(error).toBeInstanceOf(ClientError);
  expect(error).toMatchObject({ code: 'NOT_FOUND', status: 404 });
});

it('takes server-sent events where a proxy passes no socket on', async () => {
  one.answerWith(() => ({ text: TEXT }));
  const { opened, response } = await follow(await startPlainProxy(one.house.ready.url));
  expect(response).toMatchObject({ status: 'completed', documents: [{ content: TEXT }] });
  expect(opened).toHaveLength(1);
});

async function all<One>(items: AsyncIterable<One>): Promise<One[]> {
  const list: One[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Passes requests on, and cuts every upgrade. */
async function startPlainProxy(target: string): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming;
    const passed = request(new URL(url, target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  server.on('upgrade', (_, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
