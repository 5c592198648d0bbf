import { expect, it } from 'vitest';
import { UPSTREAM_LIMITS } from '../../../worker/upstream/limits.ts';
import { isRetryable, retryAfterMs, retryDelayMs } from '../../../worker/upstream/retry.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const { backoffMs, maxRetryAfterMs } = UPSTREAM_LIMITS;

it.each<[Record<string, string>, number | null]>([
  [{}, null],
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '1.5' }, 1_500],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': 'Sat, 21 Nov 2026 12:00:20 GMT' }, 20_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 11:59:00 GMT' }, null],
  [{ 'retry-after': 'Sat, 21 Nov 2026 15:00:00 GMT' }, maxRetryAfterMs],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '-3' }, null],
  [{ 'retry-after': '999999' }, maxRetryAfterMs],
  [{ 'retry-after-ms': '250' }, 250],
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  [{ 'retry-after-ms': 'x', 'retry-after': '9' }, 9_000],
])('what the upstream asks to wait: %o is %s ms', (headers, waitMs) => {
  expect(retryAfterMs(new Headers(headers), NOW)).toBe(waitMs);
});

it.each([
  [1, 0, backoffMs],
  [2, 0, backoffMs * 2],
  [3, 0, backoffMs * 4],
  [1, 0.9999, backoffMs * 0.75],
])('failure %i with luck %d waits %d ms', (failures, random, delayMs) => {
  expect(retryDelayMs(failures, random)).toBeCloseTo(delayMs, 0);
});

it.each([
  [[408, 409, 429, 500, 502, 503, 504, 529], true],
  [[200, 307, 400, 401, 403, 404, 413, 422], false],
])('%o: another attempt %s', (statuses, expected) => {
  expect(statuses.map(isRetryable)).toEqual(statuses.map(() => expected));
});
