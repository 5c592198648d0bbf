/**
 * Gives freed memory back after a file. The files of a worker share its process, and each program that it starts costs by
 * its size: a fork takes 20 ms of processor time at 650 MB, 1 ms at 50 MB.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll } from 'vitest';
import { MIB } from '../shared/units.ts';

/** By how much the process may grow before a collection, which takes 0.1 s. */
const MAX_GROWTH_BYTES = 192 * MIB;

setFlagsFromString('--expose-gc');
const collect: NodeJS.GCFunction = runInNewContext('gc');

/** Each file of tests evaluates this module anew. */
const kept = globalThis as { sizeAfterCollection?: number };

afterAll(() => {
  const { rss } = process.memoryUsage;
  if (rss() < (kept.sizeAfterCollection ?? 0) + MAX_GROWTH_BYTES) return;
  // Others leave V8's pool of empty pages with the process.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  kept.sizeAfterCollection = rss();
});
