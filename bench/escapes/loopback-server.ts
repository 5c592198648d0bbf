/** A server of the machine that no command may reach, over TCP and UDP at one port. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** Puts its port into the file `port` of the attack's folder. */
export async function startLoopbackServer(folder: string) {
  let visits = 0;
  const server = createServer((socket) => {
    visits++;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const datagrams = createSocket('udp4').on('message', () => visits++);
  datagrams.bind(port, '127.0.0.1');
  await writeFile(join(folder, 'port'), String(port));
  let seen = 0;
  return {
    isHit: async () => {
      const isHit = visits > seen;
      seen = visits;
      return isHit;
    },
    end: () => {
      server.close();
      datagrams.close();
    },
  };
}
