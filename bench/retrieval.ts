/**
 * `npm run bench:retrieval -- QUESTIONS.json REPOSITORY [--files 50000] [--embed-url http://127.0.0.1:11434/v1
 * --embed-model NAME]`: how well and how fast `codebase_search` finds the files that answer questions, with the index and
 * without. `--files` copies the repository until it has so many. `--embed-url` and `--embed-model` name an embeddings
 * endpoint, which gets the repository's text; the variable EMBED_KEY has its key.
 *
 * A file of questions, in bench/questions/, is written by somebody who did not make the index:
 * `{"repository": "name@version", "questions": [{"question": "Where is …?", "query": "Where is …? words of the code",
 * "files": ["lib/answer.js"]}]}`. Each file of `files` answers the question alone; the first one found counts. `query` is
 * the question as a model sends it that knows the tool's description and not the repository. REPOSITORY is a folder
 * with those files.
 */
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import type { CodeEmbedding } from '../packages/code-index/code-index.ts';
import { CodeIndex, type EmbeddingService } from '../packages/code-index/index.ts';
import { searchCodebase } from '../packages/code-index/search/codebase-search.ts';
import type { SearchIndex } from '../packages/code-index/search/search-index.ts';
import { Workspace } from '../packages/workspace/index.ts';
import { openTemporaryFolder } from './folder.ts';
import { percentile } from './statistics.ts';

const Questions = z.strictObject({
  repository: z.string(),
  questions: z
    .array(
      z.strictObject({
        question: z.string().min(1),
        query: z.string().min(1),
        files: z.array(z.string()).min(1),
      }),
    )
    .min(1),
});

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    files: { type: 'string' },
    'embed-url': { type: 'string' },
    'embed-model': { type: 'string' },
  },
});
const [file, repository] = positionals;
if (file === undefined || repository === undefined) {
  throw new Error('Give a file of questions and the folder of its repository.');
}
const { questions, repository: name } = Questions.parse(JSON.parse(readFileSync(file, 'utf8')));
using folder = openTemporaryFolder();
const root = values.files === undefined ? resolve(repository) : grown(Number(values.files));
const workspace = await Workspace.open(root, { home: '/nonexistent' });
const { signal } = new AbortController();

process.stdout.write(`${name}, ${questions.length} questions\n`);
await report('without the index', undefined);
const first = await openIndex();
process.stdout.write(`index of ${first.text}\n`);
await report('with the index', first.index);
await first.index.end();
const again = await openIndex();
process.stdout.write(`opened again: ${again.text}\n`);
await again.index.end();
const { 'embed-url': baseUrl, 'embed-model': model } = values;
if (baseUrl !== undefined && model !== undefined) await measureWithVectors({ baseUrl, model });

async function measureWithVectors(server: Pick<EmbeddingService, 'baseUrl' | 'model'>) {
  const key = process.env['EMBED_KEY'];
  const service = { ...server, isPrivate: false, readKey: key ? async () => key : undefined };
  const startedMs = performance.now();
  const { index } = await openIndex({ service, readSendable: async () => () => true });
  for (;;) {
    const { report: now } = index;
    const vectors = now.state === 'ready' ? now.vectors : undefined;
    if (vectors?.state === 'failing') throw new Error(vectors.reason);
    if (vectors?.state === 'ready') break;
    await sleep(100);
  }
  const ms = performance.now() - startedMs;
  process.stdout.write(`vectors by ${model}: ${ms.toFixed(0)} ms\n`);
  await report('with the index and vectors', index);
  await index.end();
}

/** Copies lie side by side; a question is answered by any of them. */
function grown(files: number): string {
  const target = join(folder.path, 'workspace');
  const count = readdirSync(repository ?? '', { recursive: true }).length;
  for (let copy = 0; copy * count < files; copy++) {
    cpSync(repository ?? '', join(target, `copy-${copy}`), { recursive: true });
  }
  return target;
}

async function openIndex(
  embedding?: CodeEmbedding,
): Promise<{ readonly index: CodeIndex; readonly text: string }> {
  const path = join(folder.path, 'index.sqlite');
  const startedMs = performance.now();
  const index = new CodeIndex({ workspace, path, embedding, signal });
  index.start();
  while (index.report.state === 'building') await sleep(10);
  const ms = performance.now() - startedMs;
  if (index.report.state === 'off') throw new Error(index.report.reason);
  const { files, leftOut } = index.report;
  const megabytes = statSync(path).size / 1e6;
  const sizes = `${files} files (${leftOut} left out), ${megabytes.toFixed(0)} MB`;
  return { index, text: `${sizes}, ${ms.toFixed(0)} ms` };
}

interface Measured {
  /** The places of the first right file; infinite where none was found. */
  readonly places: readonly number[];
  readonly times: readonly number[];
}

async function measure(kind: 'question' | 'query', index?: SearchIndex): Promise<Measured> {
  const place = await workspace.resolve('.', 'read');
  const places: number[] = [];
  const times: number[] = [];
  for (const { [kind]: question, files } of questions) {
    const startedMs = performance.now();
    const asked = { question, place, workspace, index, isPrivate: false, signal };
    const { passages } = await searchCodebase(asked);
    times.push(performance.now() - startedMs);
    const found = [...new Set(passages.map((passage) => passage.name.replace(/^copy-\d+\//, '')))];
    const at = found.findIndex((path) => files.includes(path));
    places.push(at === -1 ? Number.POSITIVE_INFINITY : at + 1);
  }
  return { places, times };
}

/** As a person asks, and as a model does. */
async function report(what: string, index: SearchIndex | undefined): Promise<void> {
  for (const kind of ['question', 'query'] as const) {
    const { places, times } = await measure(kind, index);
    const mrr = places.reduce((sum, at) => sum + 1 / at, 0) / places.length;
    const within = (most: number) => places.filter((at) => at <= most).length;
    const found = `MRR ${mrr.toFixed(3)}, first ${within(1)}, in five ${within(5)}, of ${places.length}`;
    const [median, p95] = [0.5, 0.95].map((share) => percentile(times, share).toFixed(0));
    process.stdout.write(`${what}, by ${kind}: ${found}; ${median} ms median, ${p95} ms p95\n`);
  }
}
