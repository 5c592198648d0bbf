/** Counts what all objects of a house do that the platform bills. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { House } from './house.ts';

/** The Worker of a house that counts its rows. */
export const COUNTING_ENTRY = join(import.meta.dirname, 'edge', 'counting.ts');
/** Time for the rows that are written after an answer's last byte. */
const SETTLE_MS = 500;

const Bill = z.object({ rows: z.int(), requests: z.int(), messages: z.int() });
/** Rows written; calls, fetches and alarms of objects; messages that arrived on objects' sockets. */
export type Bill = z.infer<typeof Bill>;

/** What the work has cost, and the work's result. Nothing else may run meanwhile. */
export async function countRows<Result>(
  { url }: House,
  work: () => Promise<Result>,
): Promise<Bill & { readonly result: Result }> {
  await sleep(SETTLE_MS);
  const before = await readBill(url);
  const result = await work();
  await sleep(SETTLE_MS);
  const after = await readBill(url);
  const spent = (what: keyof Bill) => after[what] - before[what];
  return { rows: spent('rows'), requests: spent('requests'), messages: spent('messages'), result };
}

async function readBill(url: string): Promise<Bill> {
  return Bill.parse(await (await fetch(`${url}/bench/bill`)).json());
}
