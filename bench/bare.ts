/** Starts the bare Worker: the same runtime and upstream, with nothing in between. */
import { join } from 'node:path';
import { ask } from './client.ts';
import { openTemporaryFolder } from './folder.ts';
import type { Ground, Side, Talk } from './side.ts';
import { startWorkerd } from './workerd.ts';

export async function startBare({
  upstream,
  wrangler,
  signal,
}: Ground): Promise<Side & AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(openTemporaryFolder()).path;
  const workerd = starting.use(
    await startWorkerd({
      entry: join(import.meta.dirname, 'edge', 'bare.ts'),
      wrangler: { ...wrangler, durableObjects: [] },
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
