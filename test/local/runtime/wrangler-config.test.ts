import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseWranglerConfig, readWranglerConfig } from '../../../local/runtime/wrangler-config.ts';

test("the repository's own file is read whole", async () => {
  const path = join(import.meta.dirname, '..', '..', '..', 'wrangler.toml');
  expect(await readWranglerConfig(path)).toEqual({
    compatibilityDate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    compatibilityFlags: expect.arrayContaining(['enable_request_signal', 'nodejs_als']),
    durableObjects: [
      { binding: 'CONVERSATIONS', className: 'Conversation' },
      { binding: 'TUNNELS', className: 'Tunnel' },
      { binding: 'ACCOUNTS', className: 'Account' },
      { binding: 'DIRECTORY', className: 'Directory' },
    ],
  });
});

test('a file without what the runtime needs is an error', () => {
  expect(() => parseWranglerConfig('name = "drawbridge"')).toThrow(/compatibilityDate/);
});
