/** `npm run bench:fuzz`: sends thousands of requests, made from `/openapi.json`, to a real workerd. See `--help`. */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { SignJWT } from 'jose';
import { readWranglerConfig } from '../local/runtime/wrangler-config.ts';
import { TOKEN_AUDIENCE, TOKEN_ISSUER } from '../shared/wire/tokens.ts';
import { openTemporaryFolder } from './folder.ts';
import type { FuzzRequest } from './fuzz/requests.ts';
import { type FuzzReport, fuzz } from './fuzz/run.ts';
import { readAnswer } from './fuzz/send.ts';
import { startWorkerd } from './workerd.ts';

const HELP = `Usage: npm run bench:fuzz [-- --seed N] [--requests N]

Sends requests that are good, and requests with one thing wrong, to Drawbridge with its demo model. Prints the answers by
operation and status, then everything that was wrong with them. The same seed sends the same requests. The exit code is 1
when anything was wrong.
`;

const ROOT = join(import.meta.dirname, '..');
const SHOWN_VIOLATIONS = 20;

await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(randomInt(2 ** 32)) },
      requests: { type: 'string', default: '10000' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const [seed, count] = [numberOf(values.seed), numberOf(values.requests)];
  process.stderr.write(`seed ${seed}, ${count} requests\n`);
  const startedMs = performance.now();
  const report = await fuzzHouse(seed, count);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  process.stdout.write(`${format(report)}${seconds} s, seed ${seed}\n`);
  if (report.violations.length > 0) process.exitCode = 1;
}

function numberOf(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new Error(`Expected a number, not ${JSON.stringify(text)}.`);
}

async function fuzzHouse(seed: number, count: number): Promise<FuzzReport> {
  using folder = openTemporaryFolder();
  const secret = randomBytes(32);
  await using workerd = await startWorkerd({
    entry: join(ROOT, 'worker', 'index.ts'),
    wrangler: await readWranglerConfig(join(ROOT, 'wrangler.toml')),
    variables: {
      AUTH_SECRET: secret.toString('base64url'),
      RATE_LIMIT_REQUESTS_PER_MINUTE: '0',
      RATE_LIMIT_RUNS_PER_MINUTE: '0',
    },
    folder: folder.path,
  });
  return await fuzz({
    seed,
    count,
    newUuid: randomUUID,
    send: async (account, request) => {
      const token = await tokenFor(account, request.bridgeId, secret);
      return await readAnswer((signal) => post(workerd.url, request, token, signal));
    },
  });
}

/** Uses node:http: `fetch` corrects or refuses many faults before it sends a request. */
function post(
  url: string,
  { method, path, headers, body }: FuzzRequest,
  token: string,
  signal: AbortSignal,
): Promise<Response> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      hostname,
      port,
      method,
      path,
      signal,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    sent.on('error', reject);
    sent.on('upgrade', (_, socket) => {
      socket.destroy();
      resolve(new Response(null, { status: 200 }));
    });
    sent.on('response', (answer) => {
      resolve(toResponse(answer));
    });
    sent.end(body);
  });
}

function toResponse(answer: IncomingMessage): Response {
  const { statusCode: status = 0, headers } = answer;
  const isEmpty = status === 204 || status === 304;
  if (isEmpty) answer.resume();
  return new Response(isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>), {
    status,
    headers: { 'content-type': headers['content-type'] ?? '' },
  });
}

async function tokenFor(
  account: string,
  bridge: string | undefined,
  secret: Uint8Array,
): Promise<string> {
  return await new SignJWT(bridge === undefined ? { scope: 'user' } : { scope: 'bridge', bridge })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(TOKEN_ISSUER)
    .setAudience(TOKEN_AUDIENCE)
    .setSubject(account)
    .setExpirationTime('1d')
    .sign(secret);
}

function format({ counts, violations }: FuzzReport): string {
  const rows = Object.entries(counts).map(([name, byStatus]) => {
    const answers = Object.entries(byStatus).map(([status, count]) => `${status}: ${count}`);
    return `${name.padEnd(24)}${answers.join('  ')}\n`;
  });
  const wrong = violations
    .slice(0, SHOWN_VIOLATIONS)
    .map(
      ({ problem, fault, request, answer }) =>
        `\n${problem}\n  ${fault}\n  ${request}\n  ${answer}\n`,
    );
  return `${rows.join('')}${wrong.join('')}\n${violations.length} answers were wrong\n`;
}
