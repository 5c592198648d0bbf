/** A proxy in front of a server that holds each answer back until it is complete, and passes no upgrade on. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface BufferingProxy extends AsyncDisposable {
  readonly url: string;
}

export async function startBufferingProxy(serverUrl: string): Promise<BufferingProxy> {
  const server = createServer((asked, answer) => {
    const { method, headers, url = '/' } = asked;
    const passed = request(new URL(url, serverUrl), { method, headers }, async (response) => {
      const { 'transfer-encoding': _, ...rest } = response.headers;
      const whole = await buffer(response).catch(() => undefined);
      if (whole) answer.writeHead(response.statusCode ?? 0, rest).end(whole);
      else answer.destroy();
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
