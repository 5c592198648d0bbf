/** The Worker's entry point: the fetch handler and the Durable Object classes. */
import { app } from './app.ts';
import type { Env } from './env.ts';

export { Conversation } from './conversation/object.ts';
export { Account } from './people/account.ts';
export { Tunnel } from './tunnel/object.ts';

export default { fetch: app.fetch } satisfies ExportedHandler<Env>;
