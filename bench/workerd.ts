/** Runs one Worker on its own workerd, bundled and started as `npm start` does it. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntilHealthy } from '../local/runtime/address.ts';
import { bundleWorker } from '../local/runtime/bundle.ts';
import { runWorker } from '../local/runtime/runtime.ts';
import type { WranglerConfig } from '../local/runtime/wrangler-config.ts';
import { type Footprint, footprintOf } from './footprint.ts';

export interface WorkerdOptions {
  readonly entry: string;
  readonly wrangler: WranglerConfig;
  readonly variables: Readonly<Record<string, string>>;
  /** An existing folder, which the caller removes. */
  readonly folder: string;
}

export interface Workerd extends AsyncDisposable {
  readonly url: string;
  /** Null if the system does not say. */
  footprint(): Promise<Footprint | null>;
  /** Starts another process on the same storage and address. Resolves when it answers. */
  restart(): Promise<void>;
}

/** Resolves when the Worker answers. Its log goes to stderr; its death fails the open requests. */
export async function startWorkerd({ entry, ...options }: WorkerdOptions): Promise<Workerd> {
  const { folder } = options;
  await mkdir(join(folder, STORAGE), { recursive: true });
  await bundleWorker(entry, join(folder, MODULE));
  let running = await run(options, 0);
  const { port, url } = running;
  return {
    url,
    footprint: () => footprintOf(join(folder, 'workerd.capnp')),
    async restart() {
      await running.end();
      running = await run(options, port);
    },
    [Symbol.asyncDispose]: () => running.end(),
  };
}

/** All that the Worker writes, but for its lines of what goes well: there is one for each run. */
function passOnTroubles(text: string): void {
  const lines = text.split('\n').filter((line) => line !== '' && !line.includes('"level":"info"'));
  for (const line of lines) process.stderr.write(`${line}\n`);
}

const MODULE = 'worker.js';
const STORAGE = 'storage';

interface Running {
  readonly port: number;
  readonly url: string;
  end(): Promise<void>;
}

/** Port 0 is any free port. */
async function run(
  { wrangler, variables, folder }: Omit<WorkerdOptions, 'entry'>,
  askedPort: number,
): Promise<Running> {
  const listening = Promise.withResolvers<number>();
  const ending = new AbortController();
  const running = runWorker(
    {
      wrangler,
      variables,
      moduleFile: MODULE,
      storageDir: join(folder, STORAGE),
      buildDir: folder,
      pageDir: folder,
      port: askedPort,
      onListening: listening.resolve,
      onRestart: (death) => console.error(`The Worker died (${death}).`),
      log: { append: passOnTroubles, tail: () => [] },
    },
    ending.signal,
  );
  const port = await Promise.race([listening.promise, running.then(neverListened)]);
  const url = `http://127.0.0.1:${port}`;
  await waitUntilHealthy(url, ending.signal);
  return {
    port,
    url,
    async end() {
      ending.abort();
      await running;
    },
  };
}

function neverListened(): never {
  throw new Error('The Worker ended before it listened.');
}
