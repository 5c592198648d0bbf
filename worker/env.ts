/** The Worker's bindings: objects, secrets and settings (wrangler.toml, local/runtime.ts). */

import type { Conversation } from './conversation/object.ts';
import type { Account } from './people/account.ts';
import type { Tunnel } from './tunnel/object.ts';

export interface Env {
  readonly CONVERSATIONS: DurableObjectNamespace<Conversation>;
  readonly TUNNELS: DurableObjectNamespace<Tunnel>;
  readonly ACCOUNTS: DurableObjectNamespace<Account>;
  /** HS256 secret, base64url of at least 32 bytes. Without it every request is refused. */
  readonly AUTH_SECRET?: string;
  /** Origins of web pages that may call the API, separated by commas: `https://app.example.com`. */
  readonly ALLOWED_ORIGINS?: string;
  /** The table of models as JSON (shared/models.ts); the secrets that its `keyName`s name are bindings too. */
  readonly MODELS?: string;
  readonly OPENAI_BASE_URL?: string;
  readonly OPENAI_API_KEY?: string;
  /** The model that answers when a request names none. */
  readonly OPENAI_MODEL?: string;
  /** How often one account may call, and start a run; 0 for no limit. RATE_LIMITS has what holds without them. */
  readonly RATE_LIMIT_REQUESTS_PER_MINUTE?: string;
  readonly RATE_LIMIT_RUNS_PER_MINUTE?: string;
  /** Models that take no images, separated by commas: a message with images is refused for them. */
  readonly TEXT_ONLY_MODELS?: string;
}
