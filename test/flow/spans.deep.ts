import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { startHouse, until } from './house.ts';

const SECRET = 'what-only-the-person-knows';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

it('an OTLP endpoint gets the spans of a run, by OpenTelemetry’s names and without content', async () => {
  const collector = await startCollector();
  const model = await startScriptedModel((_, turn) => (turn === 0 ? CALLING : { text: SECRET }));
  onTestFinished(() => model.close());
  await using house = await startHouse({
    args: ['--no-bridge'],
    modelUrl: model.baseUrl,
    variables: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b,x-other=c=d',
    },
  });
  const startedMs = Date.now();
  const response = await house.fetch('/api/v1/chat/completions', {
    method: 'POST',
    headers: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
    body: JSON.stringify({ messages: [{ role: 'user', content: SECRET }], maxTokens: 50 }),
  });
  const { id, conversationId, status } = Object(await response.json());
  expect(status).toBe('completed');
  await until(() => collector.spans().length >= 5);
  const spans = collector.spans();
  expect(collector.requests).toMatchObject([
    { url: '/v1/traces', 'x-key': 'a b', 'x-other': 'c=d', service: 'drawbridge' },
  ]);
  const run = {
    'gen_ai.conversation.id': conversationId,
    'drawbridge.response.id': id,
    'drawbridge.trace_id': TRACE,
  };
  const chat = {
    ...run,
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': expect.any(String),
    'gen_ai.request.stream': true,
    'gen_ai.provider.name': 'openai',
    'server.address': '127.0.0.1',
    'gen_ai.request.max_tokens': 50,
    'gen_ai.response.time_to_first_chunk': expect.any(Number),
    'drawbridge.duration': expect.any(Number),
    'gen_ai.usage.input_tokens': 11,
    'gen_ai.usage.output_tokens': 7,
  };
  const tool = {
    ...run,
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': expect.any(String),
    'drawbridge.duration': expect.any(Number),
  };
  const named = (name: string) => spans.filter((span) => span.name.startsWith(name));
  const [agent] = named('invoke_agent drawbridge');
  expect(agent?.attributes).toEqual({
    ...run,
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'drawbridge',
    'gen_ai.request.model': expect.any(String),
    'drawbridge.duration': expect.any(Number),
  });
  expect(named('chat ').map(({ attributes }) => attributes)).toEqual([chat, chat]);
  expect(named('execute_tool todo_write').map(({ attributes }) => attributes)).toEqual([
    { ...tool, 'gen_ai.tool.name': 'todo_write' },
  ]);
  expect(named('execute_tool read_file')).toMatchObject([
    {
      attributes: { ...tool, 'gen_ai.tool.name': 'read_file', 'error.type': 'NO_BRIDGE' },
      status: { code: 2 },
    },
  ]);
  for (const span of spans) {
    expect(span.traceId).toBe(TRACE);
    expect(span.parentSpanId).toBe(span === agent ? undefined : agent?.spanId);
    expect(span.startMs).toBeGreaterThanOrEqual(startedMs - CLOCK_MS);
    expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
  }
  expect(JSON.stringify(spans)).not.toContain(SECRET);
  expect(house.log()).not.toContain(SECRET);
});

it('an endpoint that is away costs no answer', async () => {
  await using house = await startHouse({
    args: ['--no-bridge'],
    variables: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
  });
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'hello' }] });
  const response = await house.fetch('/api/v1/chat/completions', { method: 'POST', body });
  expect(await response.json()).toMatchObject({ status: 'completed' });
  const log = () => readFileSync(join(house.state, 'logs', 'workerd.log'), 'utf8');
  await until(() => log().includes('spans_lost'));
  expect(log()).not.toContain('127.0.0.1:1"');
});

/** The Worker's clock stands still while it computes. */
const CLOCK_MS = 1_000;

const CALLING = {
  text: SECRET,
  calls: [
    { name: 'todo_write', arguments: { todos: [{ id: 'a', content: SECRET, status: 'pending' }] } },
    { name: 'read_file', arguments: { target_file: SECRET } },
  ],
};

const Value = z.union([
  z.strictObject({ stringValue: z.string() }).transform(({ stringValue }) => stringValue),
  z.strictObject({ boolValue: z.boolean() }).transform(({ boolValue }) => boolValue),
  z.strictObject({ intValue: z.int() }).transform(({ intValue }) => intValue),
  z.strictObject({ doubleValue: z.number() }).transform(({ doubleValue }) => doubleValue),
]);
const Attributes = z
  .array(z.strictObject({ key: z.string(), value: Value }))
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value])));
const Nanos = z
  .string()
  .regex(/^\d{19}$/)
  .transform((text) => Number(BigInt(text) / 1_000_000n));

/** As opentelemetry.proto.trace.v1 has it in JSON. */
const ExportRequest = z.strictObject({
  resourceSpans: z.tuple([
    z.strictObject({
      resource: z.strictObject({ attributes: Attributes }),
      scopeSpans: z.tuple([
        z.strictObject({
          scope: z.strictObject({ name: z.string() }),
          spans: z.array(
            z
              .strictObject({
                traceId: z.string().regex(/^[\da-f]{32}$/),
                spanId: z.string().regex(/^[\da-f]{16}$/),
                parentSpanId: z.string().optional(),
                name: z.string(),
                kind: z.int(),
                startTimeUnixNano: Nanos,
                endTimeUnixNano: Nanos,
                attributes: Attributes,
                status: z.strictObject({ code: z.int() }),
              })
              .transform(({ startTimeUnixNano: startMs, endTimeUnixNano: endMs, ...span }) => {
                return { ...span, startMs, endMs };
              }),
          ),
        }),
      ]),
    }),
  ]),
});

/** Stands for a collector: keeps what it gets, and refuses what OTLP does not know. */
async function startCollector() {
  const requests: Record<string, unknown>[] = [];
  const spans: z.infer<typeof ExportRequest>['resourceSpans'][0]['scopeSpans'][0]['spans'] = [];
  const server = createServer(async (request, response) => {
    const [{ resource, scopeSpans }] = ExportRequest.parse(
      JSON.parse(await text(request)),
    ).resourceSpans;
    spans.push(...scopeSpans[0].spans);
    const { url, headers } = request;
    requests.push({ url, ...headers, service: resource.attributes['service.name'] });
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { requests, spans: () => spans, url: `http://127.0.0.1:${port}` };
}
