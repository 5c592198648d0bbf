import { expect, it } from 'vitest';
import type * as declared from '../../build/worker.d.ts';
import * as worker from '../../worker/index.ts';

it('exports what the package declares', () => {
  // The type check compares the types.
  const exported: typeof declared = worker;
  expect(Object.keys(exported).sort()).toEqual([
    'Account',
    'Conversation',
    'Directory',
    'RunsInProgress',
    'Tunnel',
    'default',
  ]);
});
