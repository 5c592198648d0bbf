/** A server of pages on the loopback interface. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PageServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`; the same pages are there as `http://localhost:PORT`, which is another origin. */
  readonly origin: string;
}

export async function listen(answer: RequestListener): Promise<PageServer> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
