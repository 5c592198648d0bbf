import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { startHouse } from './house.ts';

it('bodies that stop or trickle are answered with 408, and no other client waits for that', async () => {
  await using house = await startHouse({ args: ['--no-bridge'] });
  const { hostname, port } = new URL(house.ready.url);
  const head = `authorization: Bearer ${house.ready.token}\r\ncontent-length: 5000`;
  const request = `POST /api/v1/chat/completions HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n{"messages`;
  const begin = () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined); // A reset behind the answer.
    socket.write(request);
    return { socket, answer: text(socket) };
  };
  const slow = Array.from({ length: 40 }, begin);
  const dripping = begin();
  const drip = setInterval(() => dripping.socket.write(' '), 200);
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'meanwhile' }] });
  const meanwhile = await house.fetch('/api/v1/chat/completions', { method: 'POST', body });
  expect(await meanwhile.json()).toMatchObject({ status: 'completed' });
  for (const { answer } of [...slow, dripping]) {
    const [status = '', refused] = (await answer).split('\r\n\r\n');
    expect(status).toMatch(/^HTTP\/1\.1 408 /);
    expect(JSON.parse(refused ?? '')).toMatchObject({ error: { code: 'REQUEST_TIMEOUT' } });
  }
  clearInterval(drip);
});
