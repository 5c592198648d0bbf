/** Also {@link ./document-process.test.ts} with all of its cases. */
import { expect, test } from 'vitest';
import './document-process.test.ts';
import { pdfOf } from './pdf.ts';
import { bomb, memoryOf, NEVER, started, view } from './reader.ts';

test('the process that reads documents ends where it takes too much memory, and the next document gets a new one', async () => {
  const documents = started();
  const bytes = bomb();
  const { result, mb } = await memoryOf(() =>
    documents.run('showFile', view(bytes), NEVER).catch((error: unknown) => error),
  );
  expect(result).toMatchObject({
    code: 'TOO_COMPLEX',
    message: expect.stringContaining('too much memory'),
  });
  expect(mb).toBeLessThan(400);
  expect(await documents.run('showFile', view(pdfOf(['text'])), NEVER)).toBeDefined();
});
