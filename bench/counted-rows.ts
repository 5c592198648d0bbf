/** Rows written by all objects of a house that counts them: what is billed. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { House } from './house.ts';

/** The Worker that such a house is started with. */
export const COUNTING_ENTRY = join(import.meta.dirname, 'edge', 'counting.ts');
/** What is still written after an answer's last byte is written by then. */
const SETTLE_MS = 500;

/** The rows that were written for the work, and what it came to. Nothing else may be under way. */
export async function countRows<Result>(
  { url }: House,
  work: () => Promise<Result>,
): Promise<{ readonly rows: number; readonly result: Result }> {
  await sleep(SETTLE_MS);
  const before = await readRows(url);
  const result = await work();
  await sleep(SETTLE_MS);
  return { rows: (await readRows(url)) - before, result };
}

async function readRows(url: string): Promise<number> {
  const response = await fetch(`${url}/bench/rows`);
  return z.coerce
    .number()
    .int()
    .parse(await response.text());
}
