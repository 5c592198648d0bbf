/** Counts the rows that all objects of a house write; the platform bills them. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { House } from './house.ts';

/** The Worker of a house that counts its rows. */
export const COUNTING_ENTRY = join(import.meta.dirname, 'edge', 'counting.ts');
/** Time for the rows that are written after an answer's last byte. */
const SETTLE_MS = 500;

/** The rows written for the work, and the work's result. Nothing else may run meanwhile. */
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
