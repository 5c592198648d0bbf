/**
 * `npm run bench:terminal`: measures the terminal's screen on tmux while an answer of 30 KB streams, and opencode's beside
 * it. Linux on x64.
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startFaultHouse } from './faults/house.ts';
import { type Figure, ratioOf, verdictOf } from './figure.ts';
import { openTemporaryFolder } from './folder.ts';
import { type Asked, endOf, messageOf, TOKEN_CHARS } from './page/asked.ts';
import { startOpencode } from './page/opencode.ts';
import { alignRows, formatAmount, formatTarget } from './report.ts';
import { openScreen } from './terminal/tmux.ts';
import { startUpstream } from './upstream-process.ts';

/** A client at a terminal. */
interface Client {
  readonly program: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Stands on the screen when the person can write. */
  readonly prompt: string;
}

const ASKED: Asked = { id: 1, chars: 30_000, tokensPerSecond: 100 };
const HEAD = ['', 'opencode', 'ours', 'ratio', 'wanted', ''];

const { values } = parseArgs({ options: { alone: { type: 'boolean', default: false } } });
await using ending = new AsyncDisposableStack();
const upstream = ending.use(await startUpstream(join(import.meta.dirname, 'page', 'upstream.ts')));
const ours = await measure(await drawbridge());
const theirs = values.alone ? [] : await measure(await opencode());

const figures: readonly Figure[] = [
  figure('start of the client, warm', 'ms', 0, { max: 500 }),
  figure('processor time for 30 KB at 100 tokens a second, of one core', '%', 1, { max: 10 }),
  figure('bytes to the terminal for each token', 'bytes', 2),
];
const rows = figures.map((each) => [
  each.what,
  ...[each.bare, each.ours].map((amount) => formatAmount(amount, each.unit)),
  ratioOf(each)?.toFixed(2) ?? '-',
  each.target ? formatTarget(each.target, each.unit) : '-',
  verdictOf(each) ?? '-',
]);
const load = `Load of the machine: ${(loadavg()[0] ?? 0).toFixed(1)}.`;
process.stdout.write(`${[...alignRows([HEAD, ...rows], (at) => at === 0), '', load].join('\n')}\n`);
await ending.disposeAsync();
process.exit();

function figure(what: string, unit: Figure['unit'], at: number, target?: Figure['target']): Figure {
  return {
    what,
    unit,
    bare: theirs[at] ?? null,
    ours: ours[at] ?? null,
    ...(target && { target }),
  };
}

/** Start in milliseconds, processor time in percent of the answer's time, and bytes for each token. */
async function measure(client: Client): Promise<number[]> {
  // The first start of a program fills caches.
  await (await started(client)).screen[Symbol.asyncDispose]();
  const { screen, startMs } = await started(client);
  await using _ = screen;
  await screen.enter(messageOf(ASKED));
  const before = { cpuMs: screen.cpuMs(), bytes: screen.bytes() };
  const tookMs = await screen.shows(endOf(ASKED));
  const share = ((screen.cpuMs() - before.cpuMs) / tookMs) * 100;
  return [startMs, share, ((screen.bytes() - before.bytes) * TOKEN_CHARS) / ASKED.chars];
}

async function started({ program, prompt, ...place }: Client) {
  const screen = await openScreen(program, place);
  return { screen, startMs: await screen.shows(prompt) };
}

async function drawbridge(): Promise<Client> {
  const house = ending.use(await startFaultHouse(upstream.baseUrl, 'scripted'));
  const folder = ending.use(openTemporaryFolder());
  const bin = join(import.meta.dirname, '..', 'bin', 'drawbridge.mjs');
  return {
    program: [process.execPath, bin, 'chat', '--url', house.url, '--token', house.token],
    cwd: folder.path,
    env: { XDG_STATE_HOME: folder.path, XDG_CONFIG_HOME: folder.path },
    prompt: '────',
  };
}

/** Its terminal alone, at a server that runs. */
async function opencode(): Promise<Client> {
  const { attach } = ending.use(await startOpencode(upstream.baseUrl));
  return { ...attach, prompt: 'Ask anything' };
}
