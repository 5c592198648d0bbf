/** Runs Drawbridge as `npm start` does, with the scripted upstream. A measurement adds a bridge if it needs one. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openState, type State } from '../local/state/state.ts';
import { mintToken } from '../local/state/tokens.ts';
import { type Answering, ask, type Exchange } from './client.ts';
import { openTemporaryFolder } from './folder.ts';
import type { ScriptName } from './scripts.ts';
import type { Ground, Side, Talk } from './side.ts';
import { startWorkerd } from './workerd.ts';

export interface House extends Side, AsyncDisposable {
  readonly url: string;
  readonly state: State;
  readonly workspaceDir: string;
  /** Opens a conversation, whose calls go to the bridge if one is named. */
  open(bridgeId?: string): Promise<Talk>;
  /** Sends a request to the API as its one user. The path is below `/api/v1/`. Resolves with the answer's headers. */
  request(path: string, asked?: ApiRequest): Promise<Answering>;
  /** Ends the runtime and starts it on the same storage and address. No object is in memory then. */
  restart(): Promise<void>;
}

/** A house needs only the address of its upstream. */
export interface HouseGround extends Omit<Ground, 'upstream'> {
  readonly upstream: Pick<Ground['upstream'], 'baseUrl'>;
}

/** A GET by default. Its signal breaks the request off, as does the signal of the whole measurement. */
export type ApiRequest = Partial<Omit<Exchange, 'url'>>;

const ROOT = join(import.meta.dirname, '..');
/** The Worker that is deployed. */
const WORKER_ENTRY = join(ROOT, 'worker', 'index.ts');

/** `settings` are settings of the Worker, in addition to those of every house. */
export async function startHouse(
  { upstream, wrangler, signal }: HouseGround,
  entry = WORKER_ENTRY,
  settings: Readonly<Record<string, string>> = {},
): Promise<House> {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(openTemporaryFolder()).path;
  const workspaceDir = join(folder, 'workspace');
  const workerdDir = join(folder, 'workerd');
  await Promise.all([workspaceDir, workerdDir].map((path) => mkdir(path)));
  const state = await openState({ workspaceDir, stateDir: join(folder, 'state') });
  const variables = {
    AUTH_SECRET: state.authSecret,
    OPENAI_BASE_URL: upstream.baseUrl,
    RATE_LIMIT_RUNS_PER_MINUTE: NO_LIMIT,
    RATE_LIMIT_REQUESTS_PER_MINUTE: NO_LIMIT,
    ...settings,
  };
  const workerd = starting.use(
    await startWorkerd({ entry, wrangler, variables, folder: workerdDir }),
  );
  const { url } = workerd;
  const token = await mintToken(state.authSecret, { scope: 'user' }, new Date());
  const request: House['request'] = (path, { headers, signal: own, ...asked } = {}) =>
    ask({
      method: 'GET',
      ...asked,
      url: `${url}/api/v1/${path}`,
      headers: { ...headers, authorization: `Bearer ${token}` },
      signal: own ? AbortSignal.any([signal, own]) : signal,
    });
  const started = starting.move();
  return {
    url,
    state,
    workspaceDir,
    request,
    open: (bridgeId) => openConversation(request, bridgeId),
    footprint: () => workerd.footprint(),
    restart: () => workerd.restart(),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** No rate limit: a measurement sends more requests in a minute than a user. */
const NO_LIMIT = '0';

async function openConversation(
  request: House['request'],
  bridgeId: string | undefined,
): Promise<Talk> {
  let conversation: object = { ...(bridgeId !== undefined && { bridgeId }) };
  const talk: Talk = async (script, onText) => {
    const body = { ...conversation, ...messageFor(script) };
    const { ended } = await request('chat/completions', { method: 'POST', body, onText });
    return await ended;
  };
  const { headers } = await talk('greeting');
  conversation = { conversationId: headers['drawbridge-conversation-id'] };
  return talk;
}

/** The body of a message that the script answers with a stream. */
export function messageFor(script: ScriptName) {
  return { model: script, messages: [{ role: 'user', content: 'Go on.' }], stream: true };
}
