/** Drawbridge as `npm start` runs it, with the scripted upstream; a bridge is added where a measurement needs one. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openState, type State } from '../local/state.ts';
import { mintToken } from '../local/tokens.ts';
import { post } from './client.ts';
import { openTemporaryFolder } from './folder.ts';
import type { Ground, Side, Talk } from './side.ts';
import { startWorkerd } from './workerd.ts';

export interface House extends Side, AsyncDisposable {
  readonly url: string;
  readonly state: State;
  readonly workspaceDir: string;
  /** Its calls go to the bridge, if one is named. */
  open(bridgeId?: string): Promise<Talk>;
}

const ROOT = join(import.meta.dirname, '..');
/** The Worker that is deployed. */
const WORKER_ENTRY = join(ROOT, 'worker', 'index.ts');

export async function startHouse(
  { upstream, wrangler, signal }: Ground,
  entry = WORKER_ENTRY,
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
  };
  const workerd = starting.use(
    await startWorkerd({ entry, wrangler, variables, folder: workerdDir }),
  );
  const { url } = workerd;
  const token = await mintToken(state.authSecret, { scope: 'user' }, new Date());
  const started = starting.move();
  return {
    ...{ url, state, workspaceDir },
    open: (bridgeId) => openConversation({ url, token, bridgeId, signal }),
    memory: () => workerd.memory(),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** More requests come in a minute than any user sends. */
const NO_LIMIT = '0';

interface Opening {
  readonly url: string;
  readonly token: string;
  readonly bridgeId: string | undefined;
  readonly signal: AbortSignal;
}

async function openConversation({ url, token, bridgeId, signal }: Opening): Promise<Talk> {
  let conversation: object = { ...(bridgeId !== undefined && { bridgeId }) };
  const talk: Talk = async (script, onText) => {
    const messages = [{ role: 'user', content: 'Go on.' }];
    return await post({
      url: `${url}/api/v1/chat/completions`,
      headers: { authorization: `Bearer ${token}` },
      body: { ...conversation, model: script, messages, stream: true },
      onText,
      signal,
    });
  };
  const { headers } = await talk('greeting');
  conversation = { conversationId: headers['drawbridge-conversation-id'] };
  return talk;
}
