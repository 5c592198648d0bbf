import { expect, it } from 'vitest';
import { HOUR, MINUTE } from '../../../shared/units.ts';
import { normaliseError } from '../errors.ts';
import { UPSTREAM_LIMITS } from '../limits.ts';
import { isRetryable, retryAfterMs, retryDelayMs, retryFor, withEnd } from '../retry.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const { backoffMs, maxRetryAfterMs } = UPSTREAM_LIMITS;

it.each<[Record<string, string>, number | null]>([
  [{}, null],
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '1.5' }, 1_500],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': 'Sat, 21 Nov 2026 12:00:20 GMT' }, 20_000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 11:59:00 GMT' }, null],
  [{ 'retry-after': 'Sat, 21 Nov 2026 15:00:00 GMT' }, 3 * HOUR],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '-3' }, null],
  [{ 'retry-after': '999999' }, 999_999_000],
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

it.each<[unknown, number | undefined]>([
  [{ error: { message: 'Quota exceeded. Please retry in 43.5s.' } }, 43_500],
  [
    { error: { message: 'Rate limit reached for m: Limit 6000. Please try again in 7m12s.' } },
    432_000,
  ],
  [{ error: { message: 'Please try again in 120ms.' } }, 120],
  [{ error: { message: 'Try again in 2 hours' } }, 2 * HOUR],
  [{ error: { message: 'Rate limited, retry after 5 seconds' } }, 5_000],
  [{ error: { message: 'Slow down', retry_after: 8 } }, 8_000],
  [[{ error: { message: 'm', details: [{ '@type': 'x' }, { retryDelay: '43s' }] } }], 43_000],
  [{ error: { message: 'Limit 30000, used 29000, requested 5s' } }, undefined],
  [{ error: { message: 'try again later' } }, undefined],
  [{ error: { message: 'Slow down', retry_after: -1 } }, undefined],
])('what the body asks to wait: %j is %d ms', (body, waitMs) => {
  expect(normaliseError(429, 'application/json', JSON.stringify(body)).waitMs).toBe(waitMs);
});

it('waits as long as header or body say, and not at all where that is too long or a quota is spent', () => {
  const error = { message: 'm', code: null, type: null, status: 429 };
  expect(retryFor(error, null)).toEqual({ afterMs: null });
  expect(retryFor({ ...error, waitMs: 9 }, null)).toEqual({ afterMs: 9 });
  expect(retryFor({ ...error, waitMs: 9 }, 5)).toEqual({ afterMs: 5 });
  expect(retryFor(error, maxRetryAfterMs)).toEqual({ afterMs: maxRetryAfterMs });
  expect(retryFor(error, maxRetryAfterMs + 1)).toBeNull();
  expect(retryFor({ ...error, waitMs: 2 * MINUTE }, null)).toBeNull();
  expect(retryFor({ ...error, code: 'insufficient_quota' }, 1)).toBeNull();
  expect(withEnd(error, 3 * HOUR, NOW).message).toBe(
    'm It can be asked again at 2026-11-21T15:00:00.000Z.',
  );
  expect(withEnd(error, Number.POSITIVE_INFINITY, NOW).message).toContain('2027-11-22');
});
