import { expect, it } from 'vitest';
import { type Fallback, fallbackFor, nextModel } from '../fallback.ts';
import { UPSTREAM_LIMITS } from '../limits.ts';
import { readWholeReply, type UpstreamReply } from '../reader.ts';

function refused(status: number, error: object): UpstreamReply {
  return readWholeReply(status, 'application/json', JSON.stringify({ error })).reply;
}

const NOW = { afterMs: null };
const { patienceMs } = UPSTREAM_LIMITS;

it.each<[string, UpstreamReply, { afterMs: number | null } | null, Fallback]>([
  ['a fault of the server', refused(500, { message: 'oops' }), NOW, 'at_last'],
  ['no room', refused(503, { message: 'full' }), NOW, 'at_once'],
  ['overloaded', refused(529, { type: 'overloaded_error' }), NOW, 'at_once'],
  ['overloaded, said in a stream', refused(200, { type: 'overloaded_error' }), null, 'at_once'],
  ['a rate limit, soon over', refused(429, {}), { afterMs: patienceMs }, 'at_last'],
  ['a rate limit', refused(429, {}), { afterMs: patienceMs + 1 }, 'at_once'],
  ['a quota', refused(429, { code: 'insufficient_quota' }), NOW, 'at_once'],
  ['a bill', refused(402, { message: 'pay' }), null, 'at_once'],
  ['an unknown model', refused(404, { code: 'model_not_found' }), null, 'at_once'],
  ['an unknown model, as 400', refused(400, { code: 'model_not_found' }), null, 'at_once'],
  ['a long context', refused(400, { code: 'context_length_exceeded' }), null, 'to_larger'],
  ['a filter', refused(400, { code: 'content_filter' }), null, 'never'],
  ['a wrong key', refused(401, { message: 'no' }), null, 'never'],
  ['a bad request', refused(400, { message: 'bad' }), null, 'never'],
])(
  'the class of a failure decides when another model is asked: %s',
  (_, reply, retry, fallback) => {
    expect(fallbackFor(reply, retry)).toBe(fallback);
  },
);

it.each<[UpstreamReply['outcome'], { afterMs: null } | null, Fallback]>([
  ['completed', null, 'never'],
  ['truncated', null, 'never'],
  ['filtered', null, 'never'],
  ['interrupted', NOW, 'at_last'],
])(
  'the class of a failure decides when another model is asked: an answer that is %s',
  (outcome, retry, fallback) => {
    const reply = { ...refused(400, {}), outcome, error: null };
    expect(fallbackFor(reply, retry)).toBe(fallback);
  },
);

const MODELS = JSON.stringify([
  { id: 'main', contextWindow: 1_000, fallbacks: ['small', 'blind', 'large', 'unsaid'] },
  { id: 'small', contextWindow: 500, fallbacks: ['main'] },
  { id: 'blind', contextWindow: 1_000, takesImages: false },
  { id: 'large', contextWindow: 2_000 },
  { id: 'unsaid' },
]);

it.each<[string, Fallback, boolean, string | null]>([
  ['main', 'at_last', false, 'small'],
  ['small', 'at_once', false, 'blind'],
  ['small', 'at_once', true, 'large'],
  ['main', 'to_larger', false, 'large'],
  ['large', 'to_larger', false, null],
  ['large', 'at_last', false, 'unsaid'],
  ['unsaid', 'at_once', false, null],
  ['main', 'never', false, null],
  ['gone', 'at_last', false, null],
])('the next model after %s, %s, with images: %s, is %s', (failed, fallback, holdsImages, next) => {
  expect(nextModel({ requested: 'main', failed, holdsImages }, fallback, { MODELS })).toBe(next);
});

it('the next model is none without a table', () => {
  const asking = { requested: 'a', failed: 'a', holdsImages: false };
  expect(nextModel(asking, 'at_once', {})).toBeNull();
});
