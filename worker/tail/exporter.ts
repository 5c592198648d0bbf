/**
 * A worker of its own beside the server's, on plain workerd: sends the spans of runs to an OTLP endpoint
 * (https://opentelemetry.io/docs/specs/otlp/, JSON over HTTP). The runtime's own spans stay here: they have addresses and SQL.
 */
import { SPAN_NAMES } from '../health/span-names.ts';
import { TAIL_LIMITS } from './limits.ts';

/** As OpenTelemetry names and reads them: https://opentelemetry.io/docs/specs/otel/protocol/exporter/ */
interface TailEnv {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT: string;
  readonly OTEL_EXPORTER_OTLP_HEADERS?: string;
}

type AttributeValue = string | number | boolean;

/** A span that the server has marked. It is over when it begins: its attributes say how long it took. */
interface Marked {
  readonly name: string;
  readonly spanId: string;
  readonly atMs: number;
  readonly attributes: Map<string, AttributeValue>;
}

export default {
  tailStream: (_onset, env, context) => {
    const marked = new Map<string, Marked>();
    const flush = () => {
      const spans = [...marked.values()];
      marked.clear();
      if (spans.length > 0) context.waitUntil(send(spans, env));
    };
    return ({ event, timestamp, spanContext }) => {
      if (event.type === 'spanOpen' && OURS.test(event.name)) {
        if (marked.size >= TAIL_LIMITS.maxSpans) flush();
        const { name, spanId } = event;
        marked.set(spanId, { name, spanId, atMs: timestamp.getTime(), attributes: new Map() });
      } else if (event.type === 'attributes') {
        const span = marked.get(spanContext.spanId ?? '');
        for (const { name, value } of span ? event.info : []) {
          if (isValue(value)) span?.attributes.set(name, value);
        }
      } else if (event.type === 'outcome') flush();
    };
  },
} satisfies ExportedHandler<TailEnv>;

/** See RunWatch, which marks them. */
const OURS = /^(?:invoke_agent|chat|execute_tool) /;

function isValue(value: unknown): value is AttributeValue {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** Once: a span that does not arrive is lost, and the log says so. Never rejects. */
async function send(marked: readonly Marked[], env: TailEnv): Promise<void> {
  const url = `${env.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/$/, '')}/v1/traces`;
  try {
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { ...headersIn(env.OTEL_EXPORTER_OTLP_HEADERS), 'content-type': 'application/json' },
      body: JSON.stringify(requestOf(await Promise.all(marked.map(spanOf)))),
      signal: AbortSignal.timeout(TAIL_LIMITS.sendMs),
    });
    if (status >= 300) report(`status ${status}`);
  } catch (error) {
    report(error instanceof Error ? error.name : 'unknown');
  }
}

/** In the form of the server's own log, without the endpoint, which can hold a key. */
function report(reason: string): void {
  const message = 'Spans could not be sent to OTEL_EXPORTER_OTLP_ENDPOINT';
  console.warn(JSON.stringify({ level: 'warn', event: 'spans_lost', reason, message }));
}

/** `name=value,other=value`, percent-encoded. */
function headersIn(text = ''): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A key that holds a plain `%`.
  }
}

function requestOf(spans: readonly object[]): object {
  const resource = { attributes: [attributeOf('service.name', 'drawbridge')] };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'drawbridge' }, spans }] }] };
}

async function spanOf({ name, spanId, atMs, attributes }: Marked): Promise<object> {
  const seconds = Number(attributes.get(SPAN_NAMES.seconds) ?? 0);
  const run = await idOf(String(attributes.get(SPAN_NAMES.run)));
  const isRun = name.startsWith('invoke_agent');
  return {
    traceId: attributes.get(SPAN_NAMES.trace),
    ...(isRun ? { spanId: run } : { spanId, parentSpanId: run }),
    name,
    kind: name.startsWith('chat') ? KINDS.client : KINDS.internal,
    startTimeUnixNano: `${Math.round(atMs - seconds * 1_000)}000000`,
    endTimeUnixNano: `${atMs}000000`,
    attributes: [...attributes].map(([key, value]) => attributeOf(key, value)),
    status: { code: attributes.has(SPAN_NAMES.error) ? STATUS_ERROR : STATUS_UNSET },
  };
}

/** The id of a run's own span, so that those of its work stand below it, in whatever order they come. */
async function idOf(run: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(run));
  return [...new Uint8Array(hash, 0, 8)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function attributeOf(key: string, value: AttributeValue): object {
  if (typeof value === 'string') return { key, value: { stringValue: value } };
  if (typeof value === 'boolean') return { key, value: { boolValue: value } };
  return { key, value: Number.isInteger(value) ? { intValue: value } : { doubleValue: value } };
}

/** Of opentelemetry.proto.trace.v1. */
const KINDS = { internal: 1, client: 3 } as const;
const STATUS_UNSET = 0;
const STATUS_ERROR = 2;
