import { SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { app } from '../../../worker/app.ts';
import { METRIC_LIMITS } from '../../../worker/health/limits.ts';
import { Counter, Histogram } from '../../../worker/health/series.ts';
import { chat, scriptModel, tokenFor } from '../api.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';
import { type Family, parsePrometheus } from './prometheus-text.ts';

it('counts what a run with a tool call does', async () => {
  const bridge = await connectBridge();
  const before = await read();
  scriptModel((_, turn) =>
    turn === 0
      ? { calls: [{ name: 'read_file', arguments: { target_file: 'a.ts' } }] }
      : { text: 'Done.' },
  );
  const answer = chat('go', { bridgeId: bridge.bridgeId });
  const { callId } = await bridge.nextCall();
  bridge.finish(callId, { status: 'error', code: 'FILE_NOT_FOUND', data: 'There is no a.ts.' });
  expect(await answer).toMatchObject({ status: 'completed' });
  await bridge.next('ack');
  await grows(before, {
    'drawbridge_requests_total{operation="createResponse",status="200"}': 1,
    'drawbridge_runs_total{status="completed"}': 1,
    'drawbridge_tool_calls_total{tool="read_file",status="error"}': 1,
    'drawbridge_tool_call_seconds_count{executor="bridge"}': 1,
    'drawbridge_errors_total{place="call",code="FILE_NOT_FOUND"}': 1,
    'drawbridge_model_requests_total{model="scripted",outcome="completed"}': 2,
    'drawbridge_first_token_seconds_count{model="scripted"}': 2,
    'drawbridge_turn_seconds_count{model="scripted"}': 2,
    'drawbridge_tokens_total{model="scripted",kind="input"}': 22,
  });
});

it('counts the bridges that are connected', async () => {
  const before = await read();
  const bridge = await connectBridge();
  await grows(before, { 'drawbridge_bridges_connected{}': 1 });
  await bridge.leave();
  await grows(before, { 'drawbridge_bridges_connected{}': 0 });
});

it('serves types, help and the content type for a scraper', async () => {
  const response = await scrape();
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const families = parsePrometheus(await response.text());
  expect(families.get('drawbridge_requests_total')).toMatchObject({ type: 'counter' });
  expect(families.get('drawbridge_bridges_connected')).toMatchObject({ type: 'gauge' });
  expect(families.get('drawbridge_turn_seconds')).toMatchObject({ type: 'histogram' });
});

it.each([undefined, '', 'short'])(
  'serves no metrics with METRICS_TOKEN %j',
  async (METRICS_TOKEN) => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const request = new Request('https://drawbridge.test/metrics', { headers });
    const response = await app.fetch(request, { ...env, METRICS_TOKEN });
    expect(response.status).toBe(404);
  },
);

it('serves metrics for one of several tokens, and not for a short one', async () => {
  const METRICS_TOKEN = ' first-of-the-tokens\n second-of-the-tokens short ';
  const statuses = ['first-of-the-tokens', 'second-of-the-tokens', 'short', 'of-the-tokens'].map(
    async (token) => {
      const headers = { authorization: `Bearer ${token}` };
      const request = new Request('https://drawbridge.test/metrics', { headers });
      return (await app.fetch(request, { ...env, METRICS_TOKEN })).status;
    },
  );
  expect(await Promise.all(statuses)).toEqual([200, 200, 401, 401]);
});

it('serves no metrics for a user’s token', async () => {
  expect((await scrape(await tokenFor())).status).toBe(401);
});

it('a series takes any text as a label', () => {
  const odd = ['"', '\\', '\n', '\\n', 'a="b"', '}', '\r', '\u2028', '🙂', '\\"\n', '# HELP'];
  const counter = new Counter('odd', 'Odd labels.');
  for (const label of odd) counter.add({ label });
  const series = parsePrometheus(counter.format()).get('drawbridge_odd')?.series;
  expect([...(series ?? [])]).toEqual(odd.map((label) => [`drawbridge_odd{label="${label}"}`, 1]));
});

it('a label is cut between characters', () => {
  const counter = new Counter('long', 'Long labels.');
  counter.add({ label: `${'a'.repeat(METRIC_LIMITS.maxLabelChars - 1)}🙂` });
  expect(counter.format()).toContain('a\uFFFD"');
});

it('a series beyond the bound counts as `other`', () => {
  const counter = new Counter('many', 'Many labels.');
  for (let number = 0; number < METRIC_LIMITS.maxSeries + 5; number++) counter.add({ number });
  const series = parsePrometheus(counter.format()).get('drawbridge_many')?.series;
  expect(series?.get('drawbridge_many{number="other"}')).toBe(5);
  expect(series?.size).toBe(METRIC_LIMITS.maxSeries + 1);
});

it('a histogram counts each bucket with those below it', () => {
  const histogram = new Histogram('times', 'Times.', [0.1, 1]);
  for (const ms of [-5, 100, 125, 1000, 5000]) histogram.observe({ model: 'm' }, ms);
  const series = parsePrometheus(histogram.format()).get('drawbridge_times')?.series;
  expect([...(series ?? [])]).toEqual([
    ['drawbridge_times_bucket{model="m",le="0.1"}', 2],
    ['drawbridge_times_bucket{model="m",le="1"}', 4],
    ['drawbridge_times_bucket{model="m",le="+Inf"}', 5],
    ['drawbridge_times_sum{model="m"}', 6.225],
    ['drawbridge_times_count{model="m"}', 5],
  ]);
});

async function read(): Promise<Map<string, number>> {
  const families = parsePrometheus(await (await scrape()).text());
  return new Map([...families.values()].flatMap(({ series }: Family) => [...series]));
}

function scrape(token = env.METRICS_TOKEN): Promise<Response> {
  const headers = { authorization: `Bearer ${token}` };
  return SELF.fetch('https://drawbridge.test/metrics', { headers });
}

/** Waits until each series has grown by so much: a reader that comes or goes is counted a moment later. */
async function grows(before: Map<string, number>, wanted: Record<string, number>): Promise<void> {
  await vi.waitFor(async () => {
    const now = await read();
    const grown = Object.keys(wanted).map((series) => [
      series,
      (now.get(series) ?? 0) - (before.get(series) ?? 0),
    ]);
    expect(Object.fromEntries(grown)).toEqual(wanted);
  });
}
