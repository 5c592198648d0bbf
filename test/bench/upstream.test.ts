import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nowMs } from '../../bench/clock.ts';
import { SCRIPTS, type ScriptName } from '../../bench/scripts.ts';
import { StampReader } from '../../bench/stamps.ts';
import { startUpstream, type Upstream } from '../../bench/upstream-process.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'bench', 'upstream.ts');
const SOON_MS = 10_000;

it('plays a script to its end, and reports no reader that reached the end as hung up', async () => {
  await using upstream = await startUpstream(PROGRAM);
  const hungUp = upstream.next('hung up', AbortSignal.timeout(SOON_MS));
  const reader = new StampReader(SCRIPTS.burst.tokens);
  reader.push(await (await ask(upstream, 'burst')).text());
  expect(reader.agesMs).toHaveLength(SCRIPTS.burst.tokens);
  const leftMs = await leave(upstream, 'steady');
  expect((await hungUp).atMs).toBeGreaterThan(leftMs);
});

it('leaves a request without headers, and reports when its connection is closed', async () => {
  await using upstream = await startUpstream(PROGRAM);
  const leaving = new AbortController();
  const waiting = upstream.next('left waiting', AbortSignal.timeout(SOON_MS));
  const asked = ask(upstream, 'silent', leaving.signal).then(
    () => 'answered',
    () => 'left',
  );
  await waiting;
  const hungUp = upstream.next('hung up', AbortSignal.timeout(SOON_MS));
  const leftMs = nowMs();
  leaving.abort();
  const afterMs = (await hungUp).atMs - leftMs;
  expect(afterMs).toBeGreaterThan(0);
  expect(afterMs).toBeLessThan(SOON_MS);
  expect(await asked).toBe('left');
});

it('is waited for no longer than its caller wants', async () => {
  await using upstream = await startUpstream(PROGRAM);
  await expect(upstream.next('hung up', AbortSignal.timeout(10))).rejects.toThrow();
});

/** Hangs up when the answer begins; returns when. */
async function leave(upstream: Upstream, script: ScriptName): Promise<number> {
  const leaving = new AbortController();
  const { body } = await ask(upstream, script, leaving.signal);
  await body?.getReader().read();
  const leftMs = nowMs();
  leaving.abort();
  return leftMs;
}

function ask(upstream: Upstream, script: ScriptName, signal?: AbortSignal): Promise<Response> {
  return fetch(`${upstream.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: script, messages: [{ role: 'user', content: 'Go on.' }] }),
    ...(signal && { signal }),
  });
}
