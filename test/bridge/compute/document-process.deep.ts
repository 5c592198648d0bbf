/** Also {@link ./document-process.test.ts} with all of its cases. */

import { expect, test } from 'vitest';
import { CONTENT_TASKS } from '../../../bridge/compute/tasks.ts';
import './document-process.test.ts';
import { pdfOf } from './pdf.ts';
import { bomb, memoryOf, NEVER, started, view } from './reader.ts';

test('the process that reads documents ends where it takes too much memory, and the next document gets a new one', async () => {
  const documents = started();
  const bytes = bomb();
  const { result, mb } = await memoryOf(() =>
    documents.run(CONTENT_TASKS.showFile, view(bytes), NEVER).catch((error: unknown) => error),
  );
  expect(result).toMatchObject({
    code: 'TOO_COMPLEX',
    message: expect.stringContaining('too much memory'),
  });
  expect(mb).toBeLessThan(400);
  expect(await documents.run(CONTENT_TASKS.showFile, view(pdfOf(['text'])), NEVER)).toBeDefined();
});
