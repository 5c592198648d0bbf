import { beforeEach, expect, it, vi } from 'vitest';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { Followers } from '../../../worker/conversation/tape/followers.ts';
import { LOG_LIMITS } from '../../../worker/health/limits.ts';
import { describeError, logEvent } from '../../../worker/health/log.ts';
import { call, chat, errorOf, scriptModel } from '../api.ts';
import { holdModel } from '../conversation/held-model.ts';
import { configure } from '../settings.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
/** The time that one attempt at a title has. */
const TITLE_ATTEMPT_MS = 30_000;
const SECRET = 'what-only-the-person-knows';
const id = expect.any(String);
const number = expect.any(Number);

let lines: Record<string, unknown>[];

beforeEach(() => {
  lines = [];
  for (const level of ['info', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((line) => void lines.push(JSON.parse(line)));
  }
});
it('has a line for each step of a run, with the trace id of its request and no content', async () => {
  const account = `ada-${crypto.randomUUID()}`;
  const bridge = await connectBridge({ account });
  const { bridgeId } = bridge;
  scriptModel((_, turn) =>
    turn === 0
      ? { text: SECRET, calls: [{ name: 'read_file', arguments: { target_file: SECRET } }] }
      : { text: SECRET },
  );
  const asked = call('chat/completions', {
    account,
    body: { messages: [{ role: 'user', content: SECRET }], bridgeId },
    headers: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
  });
  const delivered = await bridge.nextCall();
  expect(delivered.trace).toBe(TRACE);
  const { callId } = delivered;
  bridge.finish(callId, { status: 'error', code: 'FILE_NOT_FOUND', data: SECRET });
  const response = await asked;
  expect(response.headers.get('drawbridge-trace-id')).toBe(TRACE);
  const { id: run, conversationId: conversation, documents } = Object(await response.json());
  const error = documents.find(({ type }: { type: string }) => type === 'error');
  expect(error.metadata).toMatchObject({ errorCode: 'FILE_NOT_FOUND', traceId: TRACE });
  const info = { time: expect.stringMatching(/^20\d\d-.*Z$/), level: 'info' };
  const ids = { trace: TRACE, run, account, conversation };
  const turn = { model: 'scripted', status: 'completed', durationMs: number, firstMs: number };
  const tokens = { inputTokens: 11, outputTokens: 7 };
  expect(lines).toEqual([
    { ...info, event: 'bridge_connected', account, bridge: bridgeId },
    { ...info, event: 'run_started', ...ids, model: 'scripted' },
    { ...info, event: 'turn_ended', ...ids, ...turn, ...tokens },
    {
      ...info,
      event: 'call_ended',
      ...ids,
      call: callId,
      tool: 'read_file',
      status: 'error',
      code: 'FILE_NOT_FOUND',
      durationMs: number,
    },
    { ...info, event: 'turn_ended', ...ids, ...turn, ...tokens },
    {
      ...info,
      event: 'run_ended',
      ...ids,
      status: 'completed',
      durationMs: number,
      turns: 2,
      calls: 1,
    },
  ]);
  expect(JSON.stringify(lines)).not.toContain(SECRET);
});

it('logs the code of a failed run', async () => {
  scriptModel(() => Response.json({ error: { message: SECRET } }, { status: 400 }));
  const { documents } = await chat('go');
  const ended = lines.find(({ event }) => event === 'run_ended');
  expect(ended).toMatchObject({ status: 'error', code: 'UPSTREAM_ERROR', trace: id });
  expect(documents[0]?.metadata).toMatchObject({ traceId: ended?.['trace'] });
  expect(JSON.stringify(lines)).not.toContain(SECRET);
});

it.each([
  undefined,
  'x',
  `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`,
  `ff-${TRACE}-00f067aa0ba902b7-01`,
  `00-${TRACE}-00f067aa0ba902b7-01-more`,
])(
  'makes a new trace id where traceparent is %j, and names it in the error',
  async (traceparent) => {
    const headers = traceparent === undefined ? {} : { traceparent };
    const response = await call('conversations/none', { headers });
    const traceId = response.headers.get('drawbridge-trace-id');
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(traceId).not.toBe(TRACE);
    expect(await response.clone().json()).toMatchObject({ error: { code: 'NOT_FOUND', traceId } });
    expect(await errorOf(response)).not.toHaveProperty('traceId');
  },
);

it('takes the trace id of a traceparent of a later version', async () => {
  const traceparent = `01-${TRACE}-00f067aa0ba902b7-01-more`;
  const response = await call('me', { headers: { traceparent } });
  expect(response.headers.get('drawbridge-trace-id')).toBe(TRACE);
});

it.each([
  [new TypeError(`no "${SECRET}" here`), { error: 'TypeError', message: 'no … here' }],
  [new Error(`it's '${SECRET}' and "x"`), { error: 'Error', message: 'it…' }],
  [new Error(`at https://a.test/${SECRET} and on`), { error: 'Error', message: 'at … and on' }],
  [new SyntaxError(`Unexpected token ${SECRET}`), { error: 'SyntaxError' }],
  [new DrawbridgeError('NOT_FOUND', SECRET), { error: 'DrawbridgeError', code: 'NOT_FOUND' }],
  [SECRET, { error: 'string' }],
])('an error loses what can be content: %s', (thrown, expected) => {
  const { at, ...described } = describeError(thrown);
  expect(described).toEqual(expected);
  expect(at?.join() ?? '').not.toContain(SECRET);
});

it('an error may have a message of a single long word', () => {
  const word = 'a'.repeat(500_000);
  expect(describeError(new Error(`${word} at https://a.example/x`)).message).toBe(`${word} at …`);
});

it('an error makes no long line', () => {
  const error = new Error('x'.repeat(100_000));
  error.stack = `Error\n${'    at y (z)\n'.repeat(1_000)}`;
  logEvent('request_failed', { account: 'a'.repeat(100_000), error });
  expect(JSON.stringify(lines[0]).length).toBeLessThan(4 * LOG_LIMITS.maxFieldChars);
  expect(lines[0]?.['at']).toHaveLength(LOG_LIMITS.maxFrames);
});

const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };

it.each([
  'conversations/conv_00000000-0000-4000-8000-000000000000',
  'conversations/conv_00000000-0000-4000-8000-000000000000/events',
  'chat/completions/chat_00000000-0000-4000-8000-000000000001',
  'chat/completions/chat_00000000-0000-4000-8000-000000000001/events',
])('the trace id of a request is in the error of %s', async (path) => {
  const response = await call(path, { headers });
  expect(await response.json()).toMatchObject({ error: { code: 'NOT_FOUND', traceId: TRACE } });
});

it('the trace id of a request is in the line of a reader that cannot be served', async () => {
  scriptModel(() => ({ text: 'Hello.' }));
  const { conversationId } = await chat('hi');
  vi.spyOn(Followers.prototype, 'attach').mockImplementation(() => {
    throw new Error('no room');
  });
  const response = await call(`conversations/${conversationId}/events`, { headers });
  expect(await response.json()).toMatchObject({ error: { code: 'INTERNAL', traceId: TRACE } });
  expect(lines).toContainEqual(
    expect.objectContaining({
      event: 'follow_failed',
      trace: TRACE,
      conversation: conversationId,
    }),
  );
});

it('the trace id of the run is in the line of a title that cannot be made', async () => {
  configure({ MODELS: [{ id: 'big' }, { id: 'small', roles: ['fast'] }] });
  const wait = setTimeout.bind(globalThis);
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((work, ms) =>
    wait(work, ms === TITLE_ATTEMPT_MS ? 0 : ms),
  );
  const model = holdModel();
  const body = { model: 'big', messages: [{ role: 'user', content: SECRET }] };
  const answered = call('chat/completions', { body, headers });
  (await model.next()).answer({ text: 'Hello.' });
  await (await answered).json();
  await (await model.next()).untilAborted();
  const failed = expect.objectContaining({ event: 'title_failed', trace: TRACE, run: id });
  await expect.poll(() => lines).toContainEqual(failed);
  expect(JSON.stringify(lines)).not.toContain(SECRET);
});
