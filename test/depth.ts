import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    depth: number;
  }
}

/** How many cases a long test tries: `DEPTH=10 npm run test:deep` tries ten times as many as CI has time for. */
export function deep(cases: number): number {
  const depth = inject('depth');
  // Without it a loop over no cases would pass.
  if (!Number.isInteger(depth)) throw new Error('deep() is for the long tests: name a number here');
  return cases * depth;
}
