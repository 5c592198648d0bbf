/** `npm run bench`: measures Drawbridge and a bare Worker in one run on one machine. See `--help`. */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readWranglerConfig } from '../local/runtime/wrangler-config.ts';
import { measureAssembling } from './cases/assembling.ts';
import { measureBilling } from './cases/billing.ts';
import { measureBurst } from './cases/burst.ts';
import { measureCancelling } from './cases/cancelling.ts';
import { measureCrowd } from './cases/crowd.ts';
import { measureGrowing } from './cases/growing.ts';
import { measurePaced } from './cases/paced.ts';
import { measureReading } from './cases/reading.ts';
import { measureReturning } from './cases/returning.ts';
import { measureRows } from './cases/rows.ts';
import { measureSessions } from './cases/sessions.ts';
import { measureSubagents } from './cases/subagents.ts';
import type { Figure } from './figure.ts';
import { formatJson, formatTable, type Section } from './report.ts';
import type { Ground } from './side.ts';
import { CASE_LIMITS, TooLate, withinLimit } from './time-limit.ts';
import { startUpstream } from './upstream-process.ts';

interface Case {
  readonly title: string;
  measure(ground: Ground): Promise<Figure[]>;
}

const CASES: Readonly<Record<string, Case>> = {
  a: { title: 'a whole answer at once', measure: measureBurst },
  b: { title: 'an answer at a model’s pace', measure: measurePaced },
  c: { title: 'tool turns over the tunnel', measure: measureReading },
  d: { title: 'rows and bytes', measure: measureRows },
  e: { title: 'a crowd', measure: measureCrowd },
  f: { title: 'coming back', measure: measureReturning },
  g: { title: 'a cancel', measure: measureCancelling },
  h: { title: 'a long conversation', measure: measureGrowing },
  i: { title: 'the prompt of a repository with 3,000 files', measure: measureAssembling },
  j: { title: 'subagents', measure: measureSubagents },
  k: { title: 'what Cloudflare bills', measure: measureBilling },
  l: { title: 'sessions', measure: measureSessions },
};

const HELP = `Usage: npm run bench -- [CASE...] [--json]

Measures Drawbridge beside a Worker that only passes the model's answer on. All cases by default, about two minutes.
${Object.entries(CASES)
  .map(([letter, { title }]) => `  ${letter}  ${title}\n`)
  .join('')}
A figure that misses its target is reported as "short". A case that takes longer than ${CASE_LIMITS.maxMs / 60_000} minutes is
broken off, and the others go on. The exit code is 1 only when something failed.
`;

const EXIT = { failure: 1, interrupted: 130 } as const;

/** Whether a case was given up that had not ended its processes and sockets, which would keep this one alive. */
let hasLeftovers = false;

await main();
if (hasLeftovers) process.exit();

async function main(): Promise<void> {
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  try {
    const { letters, json, help } = readArguments();
    if (help) return void process.stdout.write(HELP);
    const sections = await measure(letters, ending.signal);
    process.stdout.write(json ? formatJson(sections) : formatTable(sections));
  } catch (error) {
    process.exitCode = ending.signal.aborted ? EXIT.interrupted : EXIT.failure;
    process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`);
  }
}

function readArguments(): { letters: readonly string[]; json: boolean; help: boolean } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const unknown = positionals.find((letter) => !(letter in CASES));
  if (unknown !== undefined) throw new Error(`There is no case ${JSON.stringify(unknown)}.`);
  return { ...values, letters: positionals.length > 0 ? positionals : Object.keys(CASES) };
}

async function measure(letters: readonly string[], signal: AbortSignal): Promise<Section[]> {
  const wrangler = await readWranglerConfig(join(import.meta.dirname, '..', 'wrangler.toml'));
  await using upstream = await startUpstream(join(import.meta.dirname, 'upstream.ts'));
  const sections: Section[] = [];
  for (const [letter, { title, measure }] of Object.entries(CASES)) {
    if (!letters.includes(letter)) continue;
    process.stderr.write(`${letter}: ${title} ...\n`);
    try {
      const figures = await withinLimit(
        (within) => measure({ upstream, wrangler, signal: within }),
        signal,
      );
      sections.push({ letter, title, figures });
    } catch (error) {
      if (!(error instanceof TooLate)) throw error;
      process.stderr.write(`${letter}: ${error.message}\n`);
      process.exitCode = EXIT.failure;
      hasLeftovers ||= !error.isEnded;
    }
  }
  process.stderr.write(`${availableParallelism()} cores, Node ${process.versions.node}\n`);
  return sections;
}
