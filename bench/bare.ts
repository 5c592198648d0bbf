/** Starts the two references: Workers on the same runtime and upstream, with nothing of ours in between. */
import { join } from 'node:path';
import { ask } from './client.ts';
import { openTemporaryFolder } from './folder.ts';
import type { Ground, Side, Talk } from './side.ts';
import { startWorkerd } from './workerd.ts';

/** The Worker passes the model's answer on. */
export async function startBare(ground: Ground): Promise<Side & AsyncDisposable> {
  return await startReference(ground, 'bare.ts', []);
}

/** The same through an object and a WebSocket, as Drawbridge is built: the floor of its shape. */
export async function startShape(ground: Ground): Promise<Side & AsyncDisposable> {
  return await startReference(ground, 'shape.ts', [{ binding: 'SHAPES', className: 'Shape' }]);
}

async function startReference(
  { upstream, wrangler, signal }: Ground,
  file: string,
  durableObjects: Ground['wrangler']['durableObjects'],
): Promise<Side & AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(openTemporaryFolder()).path;
  const workerd = starting.use(
    await startWorkerd({
      entry: join(import.meta.dirname, 'edge', file),
      wrangler: { ...wrangler, durableObjects },
      variables: { OPENAI_BASE_URL: upstream.baseUrl },
      folder,
    }),
  );
  const talk: Talk = async (script, onText) => {
    const messages = [{ role: 'user', content: 'Go on.' }];
    const body = { model: script, messages, stream: true };
    const exchange = {
      method: 'POST',
      url: workerd.url,
      headers: {},
      body,
      onText,
      signal,
    } as const;
    return await (await ask(exchange)).ended;
  };
  const started = starting.move();
  return {
    async open() {
      await talk('greeting');
      return talk;
    },
    footprint: () => workerd.footprint(),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
