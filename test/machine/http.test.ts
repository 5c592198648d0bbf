/** A bridge needs neither Node's `fetch` nor HTTP/2 to wait for calls, so it does not load them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const RUN = join(import.meta.dirname, '..', '..', 'bridge', 'run.ts');
const SCRIPT = `await import(process.argv[1]);
console.log(process.moduleLoadList.filter((name) => /deps.undici|http2.core/.test(name)).join());`;

it('the bridge loads no HTTP client but the one of node:http', async () => {
  const args = ['--input-type=module', '--eval', SCRIPT, RUN];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout.trim()).toBe('');
});
