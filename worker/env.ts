/** The Worker's bindings: objects, secrets and settings (wrangler.toml, local/runtime/runtime.ts). */

import type { AccountPort, ConversationPort, TunnelPort } from './ports.ts';
import type { ModelEnv } from './upstream/models.ts';

export interface Env extends ModelEnv {
  readonly CONVERSATIONS: DurableObjectNamespace<ConversationPort>;
  readonly TUNNELS: DurableObjectNamespace<TunnelPort>;
  readonly ACCOUNTS: DurableObjectNamespace<AccountPort>;
  /** HS256 secret, base64url of at least 32 bytes. Without it every request is refused. */
  readonly AUTH_SECRET?: string;
  /** Origins of web pages that may call the API, separated by commas: `https://app.example.com`. */
  readonly ALLOWED_ORIGINS?: string;
  /** How often one account may call, and start a run; 0 for no limit. RATE_LIMITS has what holds without them. */
  readonly RATE_LIMIT_REQUESTS_PER_MINUTE?: string;
  readonly RATE_LIMIT_RUNS_PER_MINUTE?: string;
}
