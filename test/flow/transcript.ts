/** Writes down what devices and the API say to each other, as a page of `docs/transcripts/`. */
import { execFileSync } from 'node:child_process';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { House } from './house.ts';

type Json = Readonly<Record<string, unknown>>;

export interface Said {
  readonly method: string;
  /** Below `/api/v1/`. */
  readonly path: string;
  readonly body?: Json;
}

/** An open stream of events, of which the page shows what a reader needs. */
export interface Watched {
  /** Reads on to the first event of this type, and returns its data. */
  until(type: string): Promise<Json>;
}

/** One page. What differs from run to run (ids, times, nonces) has the same stand-in each time. */
export class Transcript {
  readonly #house: House;
  readonly #parts: string[] = [];
  readonly #standIns = new Map<string, string>();

  constructor(house: House, title: string) {
    this.#house = house;
    this.#parts.push(`# ${title}`);
  }

  say(...lines: string[]): void {
    this.#parts.push(lines.join('\n'));
  }

  /** Sends a request, and returns the whole answer. `shown` picks what the page shows of it. */
  async send(device: string, said: Said, shown: (answer: Json) => Json = (all) => all) {
    const response = await this.#fetch(said);
    const answer = (await response.json()) as Json;
    this.#block(requestLines(device, said), [`${response.status}`, pretty(shown(answer))]);
    return answer;
  }

  /** Opens a stream of events. The page has each part at the place where the caller has read it. */
  async watch(device: string, said: Said): Promise<Watched> {
    const { ok, body } = await this.#fetch(said);
    if (!ok || !body) throw new Error(`no stream: ${await new Response(body).text()}`);
    this.#block(requestLines(device, said));
    const events = body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())
      .getReader();
    return { until: (type) => this.#readUntil(device, events, type) };
  }

  /** Runs a program in the workspace. */
  run([program = '', ...args]: readonly string[]): void {
    const { workspace } = this.#house;
    // The workspace belongs to another user where root runs the tests.
    const trusted = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory' };
    const env = { ...process.env, ...trusted, GIT_CONFIG_VALUE_0: workspace };
    const printed = execFileSync(program, args, { cwd: workspace, env, encoding: 'utf8' });
    this.#block([`$ ${[program, ...args].join(' ')}`, printed.trimEnd()]);
  }

  toString(): string {
    return `${this.#parts.join('\n\n')}\n`;
  }

  async #readUntil(
    device: string,
    events: ReadableStreamDefaultReader<{ event?: string | undefined; data: string }>,
    type: string,
  ): Promise<Json> {
    const lines: string[] = [];
    for (;;) {
      const { value } = await events.read();
      if (!value) throw new Error(`the stream ended before ${type}`);
      const data = JSON.parse(value.data) as Json;
      if (!UNSHOWN.has(value.event ?? '')) lines.push(...eventLines(value.event ?? '', data));
      if (value.event !== type) continue;
      this.#block([`${device} reads`], lines);
      return data;
    }
  }

  #fetch({ method, path, body }: Said): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    const sent = body && { body: JSON.stringify(body), headers };
    return this.#house.fetch(`/api/v1/${path}`, { method, ...sent });
  }

  #block(...groups: (readonly string[])[]): void {
    const text = groups.map((lines) => lines.join('\n')).join('\n\n');
    this.#parts.push(`\`\`\`text\n${this.#withStandIns(text)}\n\`\`\``);
  }

  #withStandIns(text: string): string {
    return text
      .replaceAll(this.#house.workspace, '/home/you/project')
      .replaceAll(/\b(conv|chat|call|bridge|device)_[0-9a-f]{8}-[0-9a-f-]{27}/g, (id, kind) =>
        this.#standIn(id, `${kind}_`),
      )
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-05T09:00:00.000Z')
      .replaceAll(/(?<= in |": ")\/\S+\/tree\b/g, '…/tree')
      .replaceAll(/\b[0-9a-f]{40}\b/g, (id) => this.#standIn(id, 'commit_'))
      .replaceAll(/\b[0-9a-f]{32}\b/g, (id) => this.#standIn(id, 'trace_'))
      .replaceAll(/drawbridge\/[0-9a-f]+/g, (id) => this.#standIn(id, 'drawbridge/'))
      .replaceAll(/("(?:duration_ms|rows)": )\d+/g, '$1…');
  }

  /** `conv_1…` for the first conversation of the page, and so on. */
  #standIn(id: string, prefix: string): string {
    const known = this.#standIns.get(id);
    if (known) return known;
    const count = [...this.#standIns.values()].filter((one) => one.startsWith(prefix)).length;
    this.#standIns.set(id, `${prefix}${count + 1}…`);
    return this.#standIn(id, prefix);
  }
}

/** Pieces of a text come as the network cuts them. What is known of a call stands again at its document's end. */
const UNSHOWN = new Set([
  ...['content_delta', 'tool_output', 'heartbeat'],
  ...['tool_call_start', 'tool_call_arguments'],
]);

function requestLines(device: string, { method, path, body }: Said): string[] {
  return [`${device}: ${method} /api/v1/${path}`, ...(body ? [pretty(body)] : [])];
}

function eventLines(type: string, data: Json): string[] {
  return [
    `event: ${type}`,
    ...pretty(data)
      .split('\n')
      .map((line) => `  ${line}`),
  ];
}

/** JSON with small values on one line, so that a page can be read. */
function pretty(value: unknown, indent = ''): string {
  const flat = JSON.stringify(value);
  if (flat === undefined) return '';
  const spaced = flatJson(value);
  if (indent.length + spaced.length <= MAX_LINE_CHARS) return spaced;
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${deeper}${pretty(item, deeper)}`);
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  if (typeof value !== 'object' || value === null) return flat;
  const fields = Object.entries(value).map(
    ([name, field]) => `${deeper}"${name}": ${pretty(field, deeper)}`,
  );
  return `{\n${fields.join(',\n')}\n${indent}}`;
}

function flatJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flatJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `"${name}": ${flatJson(field)}`).join(', ')}}`;
}

const MAX_LINE_CHARS = 96;
