import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    depth: number;
  }
}

/** How many cases a long test tries: `DEPTH=10 npm run test:deep` tries ten times as many as CI has time for. */
export function deep(cases: number): number {
  return cases * inject('depth');
}
