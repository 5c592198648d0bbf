/** `npm run bench:tools`: measures what the tools on the machine cost, and the bridge. See `--help`. */
import { parseArgs } from 'node:util';
import { ratioOf, verdictOf } from './figure.ts';
import { alignRows, formatAmount, formatTarget } from './report.ts';
import { withinLimit } from './time-limit.ts';
import { measureCheckpoints } from './tools/checkpoints.ts';
import { measureCompletion } from './tools/completion.ts';
import { measureDiagnostics } from './tools/diagnostics.ts';
import { measureGrep } from './tools/grep.ts';
import { measureIndex } from './tools/index.ts';
import type { Part, Sizes, ToolFigure } from './tools/part.ts';
import { measureReady } from './tools/ready.ts';
import { measureServer } from './tools/server.ts';

const PARTS: Readonly<Record<string, Part>> = {
  checkpoints: measureCheckpoints,
  completion: measureCompletion,
  diagnostics: measureDiagnostics,
  grep: measureGrep,
  index: measureIndex,
  ready: measureReady,
  server: measureServer,
};

const HELP = `Usage: npm run bench:tools -- [PART...] [--files 50000]

Measures what the tools on the machine cost, and the bridge. Parts, all by default: ${Object.keys(PARTS).join(', ')}.
--files makes the largest folder smaller for a try, and the others with it.
`;

/** A part may index the largest folder. */
const LIMITS = { maxMs: 20 * 60_000, graceMs: 20_000 } as const;
const LARGE = 50_000;
const HEAD = ['', '', 'bare', 'ours', 'p95', 'ratio', 'wanted', ''];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    files: { type: 'string', default: String(LARGE) },
    help: { type: 'boolean', default: false },
  },
});
const names = positionals.length > 0 ? positionals : Object.keys(PARTS);
const large = Number(values.files);
const isRight = large > 0 && names.every((name) => Object.hasOwn(PARTS, name));
if (values.help || !isRight) process.stdout.write(HELP);
else await main();
if (!isRight) process.exitCode = 1;

async function main(): Promise<void> {
  const sizes: Sizes = {
    small: Math.min(3_000, large),
    middle: Math.min(30_000, Math.ceil(large * 0.6)),
    large,
  };
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  const rows: string[][] = [];
  for (const [name, part] of Object.entries(PARTS)) {
    if (!names.includes(name)) continue;
    process.stderr.write(`${name} ...\n`);
    try {
      const measure = async (signal: AbortSignal) => await part(sizes, signal);
      const figures = await withinLimit(measure, ending.signal, LIMITS);
      rows.push(...figures.map((figure) => rowOf(name, figure)));
    } catch (error) {
      process.exitCode = 1;
      process.stderr.write(`${name}: ${error instanceof Error ? error.message : error}\n`);
    }
  }
  const lines = alignRows([HEAD, ...rows], (column) => column < 2 || column > 5);
  process.stdout.write(`${lines.join('\n')}\n`);
  // A part that failed may have left something open.
  if (process.exitCode) process.exit();
}

function rowOf(part: string, figure: ToolFigure): string[] {
  const { what, unit, bare, ours, p95 = null, target } = figure;
  return [
    part,
    what,
    ...[bare, ours, p95].map((amount) => formatAmount(amount, unit)),
    ratioOf(figure)?.toFixed(2) ?? '-',
    target ? formatTarget(target, unit) : '-',
    verdictOf(figure) ?? '-',
  ];
}
