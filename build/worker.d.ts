/** Drawbridge's Worker, to be exported again by a Worker of your own, or called by it. */
import { DurableObject } from 'cloudflare:workers';

/** What the Worker needs bound. The comments in `wrangler.toml` beside this file name its settings. */
export interface Env {
  readonly CONVERSATIONS: DurableObjectNamespace;
  readonly TUNNELS: DurableObjectNamespace;
  readonly ACCOUNTS: DurableObjectNamespace;
  readonly DIRECTORY: DurableObjectNamespace;
  readonly AUTH_SECRET?: string;
}

export class Conversation extends DurableObject<Env> {}
export class Tunnel extends DurableObject<Env> {}
export class Account extends DurableObject<Env> {}
export class Directory extends DurableObject<Env> {}
/** Of an own server (`drawbridge serve`): bind nothing to it. */
export class RunsInProgress extends DurableObject<Env> {}

declare const worker: {
  fetch(request: Request, env: Env, context: ExecutionContext): Response | Promise<Response>;
};
export default worker;
