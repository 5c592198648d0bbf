/** One Worker on a workerd of its own, bundled and started the way `npm start` does it. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorker } from '../local/bundle.ts';
import { waitUntilHealthy } from '../local/health.ts';
import { runWorker } from '../local/runtime.ts';
import type { WranglerConfig } from '../local/wrangler-config.ts';
import { type Memory, memoryOfProcessWith } from './memory.ts';

export interface WorkerdOptions {
  readonly entry: string;
  readonly wrangler: WranglerConfig;
  readonly variables: Readonly<Record<string, string>>;
  /** Exists; the caller removes it. */
  readonly folder: string;
}

export interface Workerd extends AsyncDisposable {
  readonly url: string;
  /** Null where the system does not tell. */
  memory(): Promise<Memory | null>;
}

/** Resolves when the Worker answers. What it logs goes to stderr; its death fails the requests under way. */
export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const { entry, wrangler, variables, folder } = options;
  const moduleFile = 'worker.js';
  const storageDir = join(folder, 'storage');
  await mkdir(storageDir, { recursive: true });
  await bundleWorker(entry, join(folder, moduleFile));
  const listening = Promise.withResolvers<number>();
  const ending = new AbortController();
  const running = runWorker(
    {
      ...{ wrangler, variables, moduleFile, storageDir },
      buildDir: folder,
      port: 0,
      onListening: listening.resolve,
      onRestart: (death) => console.error(`The Worker died (${death}).`),
      log: { append: (text) => void process.stderr.write(text), tail: () => [] },
    },
    ending.signal,
  );
  const port = await Promise.race([listening.promise, running.then(neverListened)]);
  const url = `http://127.0.0.1:${port}`;
  await waitUntilHealthy(url, ending.signal);
  return {
    url,
    memory: () => memoryOfProcessWith(join(folder, 'workerd.capnp')),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
    },
  };
}

function neverListened(): never {
  throw new Error('The Worker ended before it listened.');
}
