/** Requests made from `/openapi.json`, sent to the Worker in this process. */
import { SELF } from 'cloudflare:test';
import { expect } from 'vitest';
import type { FuzzRequest } from '../../../../bench/fuzz/requests.ts';
import { fuzz } from '../../../../bench/fuzz/run.ts';
import { readAnswer } from '../../../../bench/fuzz/send.ts';
import { scriptModel, tokenFor } from '../../api.ts';

/** Sends as many, and checks each answer. */
export async function fuzzWorker(seed: number, count: number): Promise<void> {
  scriptModel(() => ({ text: 'Hello.' }));
  const run = crypto.randomUUID();
  const report = await fuzz({
    seed,
    count,
    newUuid: () => crypto.randomUUID(),
    send: async (account, request) => {
      const token = await tokenOf(`${account}-${run}`, request);
      return await readAnswer((signal) => SELF.fetch(toRequest(request, token, signal)));
    },
  });
  expect(report.violations).toEqual([]);
}

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
