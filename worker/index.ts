/** The Worker's entry point: the fetch handler and the Durable Object classes. */
import { DrawbridgeError, toWireError } from '../shared/errors.ts';
import { app } from './app.ts';
import { dropBody } from './desk/read-text.ts';
import type { Env } from './env.ts';

export { Account } from './account/object.ts';
export { Conversation } from './conversation/object.ts';
export { Directory } from './directory/object.ts';
export { RunsInProgress } from './runs/object.ts';
export { Tunnel } from './tunnel/object.ts';

export default {
  fetch: (request, env, context) =>
    URL.canParse(request.url) ? app.fetch(request, env, context) : refuseHost(request),
} satisfies ExportedHandler<Env>;

/** workerd makes the URL of the Host header as it is. Nothing else here expects that it cannot be read. */
async function refuseHost(request: Request): Promise<Response> {
  await dropBody(request);
  const error = new DrawbridgeError('INVALID_REQUEST', 'The Host header is not a host');
  const { status, body } = toWireError(error);
  return Response.json(body, { status });
}
