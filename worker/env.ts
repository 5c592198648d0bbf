/** The Worker's bindings: objects, secrets and settings (wrangler.toml, local/runtime/runtime.ts). */

import type { ModelEnv } from '../packages/model/index.ts';
import type { PromptEnv } from '../packages/prompt/index.ts';
import type { SendEnv } from './deliveries/send.ts';
import type { AccountPort } from './ports/account.ts';
import type { ConversationPort } from './ports/conversation.ts';
import type { DirectoryPort } from './ports/directory.ts';
import type { RunsPort } from './ports/runs.ts';
import type { TunnelPort } from './ports/tunnel.ts';
import type { RestoredEnv } from './storage/restored.ts';

export interface Env extends ModelEnv, PromptEnv, RestoredEnv, SendEnv {
  readonly CONVERSATIONS: DurableObjectNamespace<ConversationPort>;
  readonly TUNNELS: DurableObjectNamespace<TunnelPort>;
  readonly ACCOUNTS: DurableObjectNamespace<AccountPort>;
  readonly DIRECTORY: DurableObjectNamespace<DirectoryPort>;
  /** Own servers alone have it (local/runtime/wake.ts): Cloudflare's alarms need no help. */
  readonly RUNS?: DurableObjectNamespace<RunsPort>;
  /** The HS256 secret: 32 bytes or more, hex or base64. Of two, with a comma, the first signs and both verify. */
  readonly AUTH_SECRET?: string;
  /** The files of the web page; absent where a deployment serves them, and where there is no page. */
  readonly PAGE?: Pick<Fetcher, 'fetch'>;
  /** Origins of web pages that may call the API, separated by commas: `https://app.example.com`. */
  readonly ALLOWED_ORIGINS?: string;
  /** Set where a proxy is in front that adds the client's address to X-Forwarded-For (`--trust-proxy`). */
  readonly TRUST_PROXY?: string;
  /** The origin at which clients reach this server; `drawbridge serve --public-url` sets it. */
  readonly PUBLIC_URL?: string;
  /** Turns of an answer whose request does not say it, from 1 to BUDGET_LIMITS.maxTurns. RUN_LIMITS has the default. */
  readonly MAX_TURNS?: string;
  /** Hours: makes new conversations private where neither the account nor the message says it. */
  readonly DELETE_AFTER_HOURS?: string;
  /** Requests and runs a minute for one account. 0 means no limit. RATE_LIMITS has the defaults. */
  readonly RATE_LIMIT_REQUESTS_PER_MINUTE?: string;
  readonly RATE_LIMIT_RUNS_PER_MINUTE?: string;
  /** Tokens, separated by spaces, that open `GET /metrics`. Shorter than METRICS_LIMITS.minTokenChars: ignored. */
  readonly METRICS_TOKEN?: string;
}
