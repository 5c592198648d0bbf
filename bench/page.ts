/** `npm run bench:page`: measures the web page in Chromium, beside opencode's. See `--help`. */
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { type Browser, chromium } from 'playwright-core';
import { type Figure, ratioOf, verdictOf } from './figure.ts';
import { startDrawbridge } from './page/drawbridge.ts';
import { measureHour } from './page/hour.ts';
import { measureLoad } from './page/load.ts';
import { measureLong } from './page/long.ts';
import { startOpencode } from './page/opencode.ts';
import type { Part, Tab } from './page/part.ts';
import type { Side } from './page/side.ts';
import { measureStreaming, measureTyping } from './page/streaming.ts';
import { alignRows, formatAmount, formatTarget } from './report.ts';
import { withinLimit } from './time-limit.ts';
import { startUpstream } from './upstream-process.ts';

const PARTS: Readonly<Record<string, Part>> = {
  load: measureLoad,
  streaming: measureStreaming,
  typing: measureTyping,
  long: measureLong,
  hour: measureHour,
};

const HELP = `Usage: npm run bench:page -- [PART...] [--alone]

Measures the web page of a local server in the system's Chromium, with a scripted model, and opencode's page beside it
(installed into .build/peers once, 180 MB; Linux on x64). Parts, all by default: ${Object.keys(PARTS).join(', ')}.
--alone measures Drawbridge's page only.
`;

const CHROMIUM = '/usr/bin/chromium';
/** Each part takes some minutes on a page. */
const LIMITS = { maxMs: 15 * 60_000, graceMs: 1_000 } as const;
const NEVER = new AbortController().signal;
const HEAD = ['', '', 'opencode', 'ours', 'ratio', 'wanted', '', 'load'];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    alone: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const names = positionals.length > 0 ? positionals : Object.keys(PARTS);
const isRight = names.every((name) => Object.hasOwn(PARTS, name)) && existsSync(CHROMIUM);
if (values.help || !isRight) process.stdout.write(HELP);
else await main();
if (!isRight) process.exitCode = 1;
// A part that failed may have left something open.
if (process.exitCode) process.exit();

async function main(): Promise<void> {
  await using ending = new AsyncDisposableStack();
  const upstream = ending.use(
    await startUpstream(join(import.meta.dirname, 'page', 'upstream.ts')),
  );
  const ours = ending.use(await startDrawbridge(upstream.baseUrl));
  const theirs = values.alone ? undefined : ending.use(await startOpencode(upstream.baseUrl));
  const browser = await startBrowser();
  ending.defer(() => browser.close());
  const script = await inPageScript();
  const measure = async (part: Part, side: Side | undefined) => {
    if (!side) return [];
    process.stderr.write(`  ${side.name} ...\n`);
    const measured = () => withTab(browser, side, script, (tab) => part.measure(side, tab));
    try {
      return await withinLimit(measured, NEVER, LIMITS);
    } catch (error) {
      process.exitCode = 1;
      process.stderr.write(`  ${error instanceof Error ? error.message : error}\n`);
      return [];
    }
  };
  const rows: string[][] = [];
  for (const [name, part] of Object.entries(PARTS)) {
    if (!names.includes(name)) continue;
    process.stderr.write(`${name}\n`);
    const [own, peer] = [await measure(part, ours), await measure(part, theirs)];
    const load = (loadavg()[0] ?? 0).toFixed(1);
    const figures = part.figures.map(
      ({ what, unit, max }, at): Figure => ({
        what,
        unit,
        bare: peer[at] ?? null,
        ours: own[at] ?? null,
        ...(max !== undefined && { target: { max } }),
      }),
    );
    rows.push(...figures.map((figure) => [...rowOf(name, figure), load]));
  }
  const lines = alignRows([HEAD, ...rows], (column) => column < 2 || column > 4);
  const notes = names.flatMap((name) => PARTS[name]?.note ?? []);
  const peer = theirs ? [`Beside it: ${theirs.name}.`] : [];
  const browsers = `Chromium ${browser.version()}. load: tasks of this machine that ran or waited.`;
  process.stdout.write(`${[...lines, '', ...notes, ...peer, browsers].join('\n')}\n`);
}

function rowOf(part: string, figure: Figure): string[] {
  const { what, unit, bare, ours, target } = figure;
  return [
    part,
    what,
    ...[bare, ours].map((amount) => formatAmount(amount, unit)),
    ratioOf(figure)?.toFixed(2) ?? '-',
    target ? formatTarget(target, unit) : '-',
    verdictOf(figure) ?? '-',
  ];
}

async function startBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
}

async function inPageScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'page', 'in-page.ts')],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

/** In a browser that has seen nothing yet. */
async function withTab<Result>(
  browser: Browser,
  side: Side,
  script: string,
  work: (tab: Tab) => Promise<Result>,
): Promise<Result> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript({ content: script });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  await side.enter(page);
  const result = await work({ page, devtools });
  await context.close();
  return result;
}
