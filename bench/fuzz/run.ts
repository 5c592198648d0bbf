/** Runs the fuzz: one account sends requests, and another account's data must stay unchanged. */
import { type Description, operationsOf } from './description.ts';
import { type FuzzAnswer, Judge } from './judge.ts';
import { Random } from './random.ts';
import { type FuzzRequest, RequestMaker } from './requests.ts';
import type { Ids, World } from './world.ts';

export interface FuzzOptions {
  readonly seed: number;
  readonly count: number;
  /** Sends a request as one of the two accounts. Rejects if no answer comes in time. */
  readonly send: (account: 'sender' | 'victim', request: FuzzRequest) => Promise<FuzzAnswer>;
  readonly newUuid: () => string;
}

export interface Violation {
  readonly problem: string;
  readonly fault: string;
  readonly request: string;
  readonly answer: string;
}

export interface FuzzReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** The number of answers of each status, for each operation. */
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Requests to one conversation before another replaces it: long conversations only take time. */
const RENEW_AFTER = 200;

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const description = await readDescription(options);
  const maker = new RequestMaker(description, new Random(options.seed));
  const run = new Run(new Judge(description), options);
  const victim = await run.converse('victim');
  const before = await run.dataOf('victim', victim);
  let world: World = { own: await run.converse('sender'), foreign: victim, missing: run.noIds() };
  for (let sent = 1; sent <= options.count; sent++) {
    const request = maker.next(world);
    const status = await run.exchange(request);
    const isGone = request.method === 'DELETE' && status === 204;
    if (isGone || sent % RENEW_AFTER === 0) world = { ...world, own: await run.converse('sender') };
  }
  const after = await run.dataOf('victim', victim);
  if (after !== before) run.complain('the data of another account changed', null, { text: after });
  return { seed: options.seed, violations: run.violations, counts: run.counts };
}

async function readDescription({ send }: FuzzOptions): Promise<Description> {
  const { text } = await send('sender', get('/openapi.json'));
  const description = JSON.parse(text) as Description;
  if (operationsOf(description).length === 0) throw new Error('The document has no operations.');
  return description;
}

class Run {
  readonly violations: Violation[] = [];
  readonly counts: Record<string, Record<string, number>> = {};
  readonly #judge: Judge;
  readonly #options: FuzzOptions;

  constructor(judge: Judge, options: FuzzOptions) {
    this.#judge = judge;
    this.#options = options;
  }

  /** Sends a request and its twin, and judges the answers. Returns the status; 0 without an answer. */
  async exchange(request: FuzzRequest): Promise<number> {
    try {
      const answer = await this.#options.send('sender', request);
      this.#count(request, answer.status);
      for (const problem of this.#judge.problemsOf(request, answer)) {
        this.complain(problem, request, answer);
      }
      if (request.twin) await this.#compare(request, request.twin, answer);
      if (request.operation?.operationId === 'updateMe') await this.#keepTexts();
      return answer.status;
    } catch (error) {
      this.#count(request, 0);
      this.complain(`no answer: ${error}`, request, { text: '' });
      return 0;
    }
  }

  complain(problem: string, request: FuzzRequest | null, { text }: Pick<FuzzAnswer, 'text'>): void {
    this.violations.push({
      problem,
      fault: request?.fault ?? '',
      request: request === null ? '' : describe(request),
      answer: text.slice(0, 500),
    });
  }

  /** The request may have made the account's conversations private, with texts that go at once. */
  async #keepTexts(): Promise<void> {
    const body = JSON.stringify({ deleteAfterHours: null });
    await this.#options.send('sender', { ...get('/api/v1/me'), method: 'PATCH', body });
  }

  /** A new conversation of the account, with one response that is over. */
  async converse(account: 'sender' | 'victim'): Promise<Ids> {
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] });
    const request = { ...get('/api/v1/chat/completions'), method: 'POST', body };
    const { text, status } = await this.#options.send(account, request);
    if (status !== 200) throw new Error(`The API does not answer: ${text}`);
    const { id, conversationId } = JSON.parse(text);
    return {
      ...this.noIds(),
      ConversationId: conversationId,
      ResponseId: id,
      DocumentId: 'doc_001',
    };
  }

  /** Ids that nothing in the API has. */
  noIds(): Ids {
    const uuid = this.#options.newUuid();
    return {
      ConversationId: `conv_${uuid.slice(0, -4)}0000`,
      ResponseId: `chat_${uuid.slice(0, -4)}0001`,
      CallId: `call_${uuid}`,
      DocumentId: 'doc_999',
      BridgeId: `bridge_${uuid}`,
      DeviceId: `device_${uuid}`,
    };
  }

  /** Everything that the account can read of its conversations. */
  async dataOf(account: 'sender' | 'victim', { ConversationId }: Ids): Promise<string> {
    const { send } = this.#options;
    const list = await send(account, get('/api/v1/conversations'));
    const conversation = await send(account, get(`/api/v1/conversations/${ConversationId}`));
    return `${list.text}\n${conversation.text}`;
  }

  async #compare(request: FuzzRequest, twin: FuzzRequest, answer: FuzzAnswer): Promise<void> {
    const other = await this.#options.send('sender', twin);
    if (other.status === answer.status && untraced(other) === untraced(answer)) return;
    this.complain(`ids that do not exist are answered otherwise: ${other.text}`, request, answer);
  }

  #count({ operation }: FuzzRequest, status: number): void {
    const name = operation?.operationId ?? 'none';
    const counts = this.counts[name] ?? {};
    counts[status] = (counts[status] ?? 0) + 1;
    this.counts[name] = counts;
  }
}

/** The text of an answer without the trace id, which is another one for each request. */
function untraced({ text }: FuzzAnswer): string {
  return text.replace(/,"traceId":"\w+"/, '');
}

function get(path: string): FuzzRequest {
  return { operation: null, fault: 'nothing', method: 'GET', path, headers: {} };
}

/** The request as text, with enough detail to send it again by hand. */
function describe({ method, path, headers, body }: FuzzRequest): string {
  const text = body instanceof Uint8Array ? `bytes ${body}` : (body ?? '');
  return `${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)} ${text.slice(0, 700)}`;
}
