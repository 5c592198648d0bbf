/**
 * `npm run bench:neighbours`: how long another account's first word takes while one account floods the server. Exits
 * with 1 where it takes more than {@link BAR} allows. `-- search fork` measures these floods alone.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { readWranglerConfig } from '../local/runtime/wrangler-config.ts';
import { mintToken } from '../local/state/tokens.ts';
import { newConversationId, responseIdOf } from '../shared/ids.ts';
import { ask } from './client.ts';
import { type House, messageFor, startHouse } from './house.ts';
import { alignRows } from './report.ts';
import { percentile } from './statistics.ts';
import { startUpstream } from './upstream-process.ts';

const CONVERSATIONS = 20_000;
/** Of them, those that have an object of their own: more than a flood gets through while it is measured. */
const REAL = 500;
const SAMPLES = 30;
/** After this long no further sample is taken: a starved neighbour takes minutes. */
const SAMPLING_MS = 15_000;
const GAP_MS = 100;
/** Until a flood is at its height. */
const RISING_MS = 500;
/** The p95 of a neighbour's first word, at most: whichever is larger. */
const BAR = { ratio: 3, moreMs: 100 } as const;

/** What the flooding account does, in parallel and again and again. */
interface FloodPlan {
  readonly parallel: number;
  readonly send: (of: Flooded, number: number) => Promise<Response>;
}

/** Where it goes, and what it has. */
interface Flooded {
  readonly url: string;
  readonly token: string;
  readonly operator: string;
  readonly account: string;
  /** A conversation of some megabytes. */
  readonly large: string;
  /** Breaks off what is under way. */
  readonly signal?: AbortSignal;
}

const FLOODS = {
  search: {
    parallel: 10,
    send: (of, number) => call(of, 'GET', `conversations?search=w${number}`),
  },
  list: { parallel: 10, send: (of) => call(of, 'GET', 'conversations?limit=100') },
  export: { parallel: 4, send: (of) => call(of, 'GET', `conversations/${of.large}/export`) },
  'account export': { parallel: 4, send: (of) => operate(of, 'GET', '/export') },
  fork: {
    parallel: 4,
    send: (of) =>
      call(of, 'POST', `conversations/${of.large}/forks`, {
        responseId: responseIdOf(of.large, 8),
      }),
  },
  bodies: { parallel: 20, send: (of) => call(of, 'POST', 'chat/completions', largeMessage()) },
  delete: {
    parallel: 4,
    send: (of, number) => call(of, 'DELETE', `conversations/${conversationAt(number % REAL)}`),
  },
  suspend: {
    parallel: 1,
    send: async (of, number) => {
      const state = number % 2 === 0 ? 'suspended' : 'active';
      const response = await operate(of, 'PATCH', '', { state });
      await sleep(state === 'suspended' ? 5_000 : 0, undefined, { signal: of.signal });
      return response;
    },
  },
  // Last: nothing is left of the account.
  'account deletion': {
    parallel: 1,
    send: async (of) => {
      const response = await operate(of, 'DELETE', '');
      await sleep(1_000, undefined, { signal: of.signal });
      return response;
    },
  },
} as const satisfies Readonly<Record<string, FloodPlan>>;

type Flood = keyof typeof FLOODS;

if (isMainThread) await main();
else await flood(workerData);

async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !(name in FLOODS));
  if (unknown.length > 0) {
    process.stderr.write(
      `No such flood: ${unknown}. There are ${Object.keys(FLOODS).join(', ')}.\n`,
    );
    process.exit(2);
  }
  const signal = new AbortController().signal;
  await using upstream = await startUpstream(join(import.meta.dirname, 'upstream.ts'));
  const wrangler = await readWranglerConfig(join(import.meta.dirname, '..', 'wrangler.toml'));
  const entry = join(import.meta.dirname, 'edge', 'neighbours.ts');
  const ground = { upstream, wrangler, signal };
  // The requests of an account within its rate, as they come by default.
  await using house = await startHouse(ground, entry, { RATE_LIMIT_REQUESTS_PER_MINUTE: '' });
  const flooded = await fill(house);
  const talk = await openNeighbour(house);
  const rows = [['flood', 'quiet', 'flooded', 'ratio', 'answers', 'refused', '']];
  let isShort = false;
  for (const name of Object.keys(FLOODS) as Flood[]) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const quiet = percentile(await firstWords(talk), 0.95);
    const worker = new Worker(new URL(import.meta.url), { workerData: { name, flooded } });
    await sleep(RISING_MS);
    const loud = percentile(await firstWords(talk), 0.95);
    worker.postMessage('end');
    const [counts] = (await once(worker, 'message')) as [{ answered: number; refused: number }];
    // The server does what it was asked for, also when the client has left. A list comes after all of it.
    await (await call(flooded, 'GET', 'conversations?limit=1')).arrayBuffer();
    const isMet = loud <= Math.max(quiet * BAR.ratio, quiet + BAR.moreMs);
    isShort ||= !isMet;
    const times = [quiet, loud].map((ms) => `${ms.toFixed(0)} ms`);
    const ratio = `${(loud / quiet).toFixed(1)}x`;
    const done = [counts.answered, counts.refused].map(String);
    rows.push([name, ...times, ratio, ...done, isMet ? 'ok' : 'short']);
    process.stderr.write(`${rows.at(-1)?.join('  ')}\n`);
  }
  process.stdout.write(`${alignRows(rows, (column) => column === 0).join('\n')}\n`);
  process.exitCode = isShort ? 1 : 0;
}

/** Makes what the flooding account has. */
async function fill({ url, state: { authSecret } }: House): Promise<Flooded> {
  const account = 'flooding';
  const mint = (scope: 'user' | 'operator') =>
    mintToken(authSecret, { scope }, new Date(), { account });
  const flooded = { url, account, token: await mint('user'), operator: await mint('operator') };
  const small = await converse({ ...flooded, large: '' }, 1, 2_000);
  const large = await converse({ ...flooded, large: '' }, 10, 400_000);
  const startedMs = performance.now();
  for (let first = 0; first < CONVERSATIONS; first += 500) {
    const ids = Array.from({ length: 500 }, (_, index) => conversationAt(first + index));
    const real = Math.min(ids.length, Math.max(0, REAL - first));
    const body = JSON.stringify({ account, from: small, ids, real });
    const response = await fetch(`${url}/bench/fill`, { method: 'POST', body });
    if (!response.ok) throw new Error(await response.text());
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  process.stderr.write(`${CONVERSATIONS} conversations are made, in ${seconds} s\n`);
  return { ...flooded, large };
}

/** A conversation of so many messages, each with so many characters. Returns its id. */
async function converse(of: Flooded, messages: number, chars: number): Promise<string> {
  let conversationId: string | undefined;
  for (let number = 0; number < messages; number++) {
    const content = 'word '.repeat(chars / 5);
    const message = { model: 'greeting', messages: [{ role: 'user', content }], stream: true };
    const response = await call(of, 'POST', 'chat/completions', { ...message, conversationId });
    if (!response.ok) throw new Error(await response.text());
    await response.arrayBuffer();
    conversationId = response.headers.get('drawbridge-conversation-id') ?? '';
  }
  return conversationId ?? '';
}

/** In the order of their ids. */
function conversationAt(number: number): string {
  const digits = number.toString(16).padStart(8, '0');
  return newConversationId(`${digits}-0000-4000-8000-000000000000`);
}

/** Asks in a conversation of another account. Resolves with the milliseconds until the first word. */
async function openNeighbour({ url, state }: House): Promise<() => Promise<number>> {
  const account = 'neighbour';
  const token = await mintToken(state.authSecret, { scope: 'user' }, new Date(), { account });
  const headers = { authorization: `Bearer ${token}` };
  const { signal } = new AbortController();
  let conversation: { readonly conversationId?: string | undefined } = {};
  const talk = async () => {
    const startMs = performance.now();
    let firstMs: number | undefined;
    const { ended } = await ask({
      method: 'POST',
      url: `${url}/api/v1/chat/completions`,
      headers,
      body: { ...conversation, ...messageFor('greeting') },
      onText: (text) => {
        if (text.includes('content_delta')) firstMs ??= performance.now() - startMs;
      },
      signal,
    });
    const answer = await ended;
    const conversationId = answer.headers['drawbridge-conversation-id'];
    conversation = { conversationId: String(conversationId) };
    if (firstMs === undefined) throw new Error('An answer had no word.');
    return firstMs;
  };
  await talk();
  return talk;
}

async function firstWords(talk: () => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  const endMs = performance.now() + SAMPLING_MS;
  for (let sample = 0; sample < SAMPLES && performance.now() < endMs; sample++) {
    times.push(await talk());
    await sleep(GAP_MS);
  }
  return times;
}

/** The flooding account, in a thread of its own: what it receives takes no time from the neighbour's client. */
async function flood({ name, flooded }: { name: Flood; flooded: Flooded }): Promise<void> {
  const plan: FloodPlan = FLOODS[name];
  const counts = { answered: 0, refused: 0 };
  const ending = new AbortController();
  const of = { ...flooded, signal: ending.signal };
  let number = 0;
  parentPort?.once('message', () => ending.abort());
  const sendNext = async () => {
    const response = await plan.send(of, number++);
    for await (const _ of response.body ?? []);
    if (response.ok) counts.answered++;
    else counts.refused++;
    const waitMs = Number(response.headers.get('retry-after') ?? 0) * 1_000;
    await sleep(waitMs, undefined, { signal: ending.signal });
  };
  const senders = Array.from({ length: plan.parallel }, async () => {
    while (!ending.signal.aborted) {
      await sendNext().catch((error: unknown) => {
        if (!ending.signal.aborted) throw error;
      });
    }
  });
  await Promise.all(senders);
  if (name === 'suspend') await operate(flooded, 'PATCH', '', { state: 'active' });
  parentPort?.postMessage(counts);
}

function call(of: Flooded, method: string, path: string, body?: unknown): Promise<Response> {
  return send(of, of.token, method, path, body);
}

function operate(of: Flooded, method: string, path: string, body?: unknown): Promise<Response> {
  return send(of, of.operator, method, `accounts/${of.account}${path}`, body);
}

async function send(
  { url, signal }: Flooded,
  token: string,
  method: string,
  path: string,
  body: unknown,
): Promise<Response> {
  return await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
}

/** The largest body that the API takes, almost. */
function largeMessage(): object {
  const content = 'word '.repeat(99_000);
  const messages = Array.from({ length: 3 }, () => ({ role: 'user', content }));
  return { model: 'greeting', messages, stream: true };
}
