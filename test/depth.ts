import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    depth?: number;
  }
}

/** How many cases a long test tries: `DEPTH=10 npm run test:deep` tries ten times as many as CI has time for. */
export function deep(cases: number): number {
  const depth = inject('depth');
  // Without it a loop over no cases would pass.
  if (depth === undefined) throw new Error('deep() is for the long tests: name a number here');
  return cases * depth;
}

/** Such a file tries each so many-th of its cases, and in `npm test` only each of the `few`. */
export function eachOf(all: number, few: number): number {
  return inject('depth') === undefined ? few : all;
}

/** How many cases a file tries that a `*.deep.ts` beside it imports: a few in `npm test`, there all of them. */
export function fewOf(cases: number, few: number): number {
  return inject('depth') === undefined ? few : deep(cases);
}
