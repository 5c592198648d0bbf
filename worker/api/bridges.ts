/** `bridges`: where a bridge connects. */
import { Hono } from 'hono/tiny';
import { DrawbridgeError } from '../../shared/errors.ts';
import { tunnelOf } from '../objects.ts';
import type { AppContext } from '../people/caller.ts';
import { formatConnectUrl } from '../tunnel/connect-url.ts';

export const bridges = new Hono<AppContext>().get('/:id/connect', async (c) => {
  const { caller } = c.var;
  const bridgeId = c.req.param('id');
  if (caller.scope !== 'bridge' || caller.bridge !== bridgeId) {
    throw new DrawbridgeError('FORBIDDEN', 'This token belongs to another bridge');
  }
  if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') {
    throw new DrawbridgeError(
      'INVALID_REQUEST',
      'A bridge connects with a WebSocket: Upgrade: websocket',
    );
  }
  const response = await tunnelOf(c.env, bridgeId).fetch(
    new Request(formatConnectUrl(caller.sub, bridgeId), { headers: { upgrade: 'websocket' } }),
  );
  if (response.status === 403)
    throw new DrawbridgeError('FORBIDDEN', 'This bridge belongs to another account');
  return response;
});
