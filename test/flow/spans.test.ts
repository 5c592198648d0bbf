import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openTemporaryFolder } from '../../bench/folder.ts';
import { urlOf, waitUntilHealthy } from '../../local/runtime/address.ts';
import { placeWorker } from '../../local/runtime/bundle.ts';
import { runWorker } from '../../local/runtime/runtime.ts';
import { readWranglerConfig } from '../../local/runtime/wrangler-config.ts';
import { mintToken } from '../../local/state/tokens.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { until } from './house.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SECRET = 'what-only-the-person-knows';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

it('a streaming tail gets the spans of a run, by OpenTelemetry’s names and without content', async () => {
  await using worker = await startTailedWorker();
  const response = await worker.ask();
  const { id, conversationId, status } = Object(await response.json());
  expect(status).toBe('completed');
  await until(() => worker.spans().filter(({ isOver }) => isOver).length >= 5);
  const run = {
    'gen_ai.conversation.id': conversationId,
    'drawbridge.response.id': id,
    'drawbridge.trace_id': TRACE,
  };
  const chat = {
    ...{ ...run, 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'scripted' },
    ...{ 'gen_ai.request.stream': true, 'gen_ai.provider.name': 'openai' },
    ...{ 'server.address': '127.0.0.1', 'gen_ai.request.max_tokens': 50 },
    'gen_ai.response.time_to_first_chunk': expect.any(Number),
    'drawbridge.duration': expect.any(Number),
    ...{ 'gen_ai.usage.input_tokens': 11, 'gen_ai.usage.output_tokens': 7 },
  };
  const tool = {
    ...{ ...run, 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.type': 'function' },
    ...{ 'gen_ai.tool.call.id': expect.any(String), 'drawbridge.duration': expect.any(Number) },
  };
  const spans = worker.spans();
  const named = (name: string) => spans.filter((span) => span.name === name);
  const [agent] = named('invoke_agent drawbridge');
  expect(agent?.attributes).toEqual({
    ...{ ...run, 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'drawbridge' },
    'gen_ai.request.model': 'scripted',
    'drawbridge.duration': expect.any(Number),
  });
  expect(named('chat scripted').map(({ attributes }) => attributes)).toEqual([chat, chat]);
  expect(named('execute_tool todo_write').map(({ attributes }) => attributes)).toEqual([
    { ...tool, 'gen_ai.tool.name': 'todo_write' },
  ]);
  expect(named('execute_tool read_file')).toMatchObject([
    {
      attributes: { ...tool, 'gen_ai.tool.name': 'read_file', 'error.type': 'NO_BRIDGE' },
      status: 'error',
    },
  ]);
  expect(JSON.stringify(spans)).not.toContain(SECRET);
  expect(worker.log()).not.toContain(SECRET);
});

interface Span {
  readonly name: string;
  readonly attributes: Record<string, unknown>;
  status?: string;
  isOver: boolean;
}

/** The deployed Worker on plain workerd, with another worker as its streaming tail. */
async function startTailedWorker() {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(openTemporaryFolder()).path;
  const model = await startScriptedModel((_, turn) => (turn === 0 ? CALLING : { text: SECRET }));
  starting.defer(() => model.close());
  const storageDir = join(folder, 'storage');
  mkdirSync(storageDir);
  await placeWorker(join(ROOT, 'worker', 'index.ts'), join(folder, 'worker.js'));
  writeFileSync(join(folder, 'tail.js'), TAIL);
  const authSecret = 'a'.repeat(64);
  const variables = { AUTH_SECRET: authSecret, OPENAI_BASE_URL: model.baseUrl };
  const listening = Promise.withResolvers<number>();
  const ending = new AbortController();
  let log = '';
  const running = runWorker(
    {
      wrangler: await readWranglerConfig(join(ROOT, 'wrangler.toml')),
      ...{ buildDir: folder, moduleFile: 'worker.js', storageDir, pageDir: folder, port: 0 },
      variables: { ...variables, OPENAI_MODEL: 'scripted' },
      beforeStart: () => addTail(join(folder, 'workerd.capnp')),
      onListening: listening.resolve,
      onRestart: (death) => listening.reject(new Error(`${death}: ${log}`)),
      log: {
        append(text) {
          log += text;
        },
        tail: () => [],
      },
    },
    ending.signal,
  );
  starting.defer(async () => {
    ending.abort();
    await running.catch(() => undefined);
  });
  const url = urlOf(await listening.promise);
  await waitUntilHealthy(url, ending.signal);
  const token = await mintToken(authSecret, { scope: 'user' }, new Date());
  const started = starting.move();
  return {
    log: () => log.replace(/^TAIL .*$/gm, ''),

    spans: () => spansIn(log),
    ask: () =>
      fetch(`${url}/api/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
        },
        body: JSON.stringify({ messages: [{ role: 'user', content: SECRET }], maxTokens: 50 }),
      }),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const CALLING = {
  text: SECRET,
  calls: [
    { name: 'todo_write', arguments: { todos: [{ id: 'a', content: SECRET, status: 'pending' }] } },
    { name: 'read_file', arguments: { target_file: SECRET } },
  ],
};

/** Writes each event into the log of workerd. Attributes of the runtime's own spans have values of type bigint. */
const TAIL = `const plain = (_, value) => (typeof value === 'bigint' ? Number(value) : value);
export default { tailStream: () => ({ event, spanContext }) =>
  console.log('TAIL ' + JSON.stringify({ ...event, under: spanContext.spanId }, plain)) };`;

function addTail(path: string): void {
  const tail = `const tail :Workerd.Worker = (
  modules = [(name = "tail.js", esModule = embed "tail.js")], compatibilityDate = "2026-11-01");\n`;
  const text = readFileSync(path, 'utf8')
    .replace('  services = [', '  services = [(name = "tail", worker = .tail),')
    .replace('const worker :Workerd.Worker = (', '$&streamingTails = ["tail"],');
  writeFileSync(path, `${text}\n${tail}`);
}

function spansIn(log: string): Span[] {
  const spans = new Map<string, Span>();
  for (const [, json = ''] of log.matchAll(/^TAIL (.*)$/gm)) {
    const { type, under, ...event } = JSON.parse(json);
    const span = spans.get(under);
    if (type === 'spanOpen') {
      spans.set(event.spanId, { name: event.name, attributes: {}, isOver: false });
    } else if (span && type === 'attributes') {
      for (const { name, value } of event.info) span.attributes[name] = value;
    } else if (span && type === 'spanUpdate') span.status = event.info.status?.code;
    else if (span && type === 'spanClose') span.isOver = true;
  }
  return [...spans.values()].filter(({ name }) => OURS.test(name));
}

const OURS = /^(invoke_agent|chat|execute_tool) /;
