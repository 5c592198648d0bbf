/** Whether a port can be had, asked before anything is started on it. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { LocalError } from '../machine/local-error.ts';
import { isSystemError } from '../machine/system-error.ts';

/** @throws {LocalError} if the port is taken or not ours to open. 0, any free port, always can be had. */
export async function requireFreePort(port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host: '127.0.0.1', port });
    await once(server, 'listening');
  } catch (error) {
    const reason = isSystemError(error, 'EADDRINUSE')
      ? 'is in use by another program'
      : 'may not be opened by you';
    throw new LocalError(
      'refused',
      `Port ${port} ${reason}: choose another with --port, or 0 for any free one.`,
      { cause: error },
    );
  } finally {
    server.close();
  }
}
