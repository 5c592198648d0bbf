import { SELF } from 'cloudflare:test';
import { expect, it } from 'vitest';
import type { FuzzRequest } from '../../../../bench/fuzz/requests.ts';
import { fuzz } from '../../../../bench/fuzz/run.ts';
import { readAnswer } from '../../../../bench/fuzz/send.ts';
import { scriptModel, tokenFor } from '../../api.ts';

// `npm run bench:fuzz` sends ten thousand, by any seed.
it.each([20_261])('requests made by seed %i are answered as the document says', async (seed) => {
  scriptModel(() => ({ text: 'Hello.' }));
  const run = crypto.randomUUID();
  const report = await fuzz({
    seed,
    count: 600,
    newUuid: () => crypto.randomUUID(),
    send: async (account, request) => {
      const token = await tokenOf(`${account}-${run}`, request);
      return await readAnswer((signal) => SELF.fetch(toRequest(request, token, signal)));
    },
  });
  expect(report.violations).toEqual([]);
});

function toRequest(
  { method, path, headers, body }: FuzzRequest,
  token: string,
  signal: AbortSignal,
): Request {
  return new Request(`https://drawbridge.test${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal,
    redirect: 'manual',
    ...(body !== undefined && method !== 'GET' && method !== 'HEAD' && { body }),
  });
}

function tokenOf(account: string, { bridgeId: bridge }: FuzzRequest): Promise<string> {
  return tokenFor(
    bridge === undefined ? { account } : { account, claims: { scope: 'bridge', bridge } },
  );
}
