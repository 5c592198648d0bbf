/** The requests of one schedule, as a client makes them that wants an answer. */
import { SELF } from 'cloudflare:test';
import { tokenFor } from '../../api.ts';

export interface Asked {
  /** Sent as JSON, by POST; without it the request is a GET. */
  readonly body?: object | undefined;
  readonly idempotencyKey?: string;
  readonly upgrade?: boolean;
}

const RETRY_MS = 100;
/** One for each account: signing one for every request would take longer than the requests. */
const tokens = new Map<string, Promise<string>>();

export class Device {
  readonly account: string;
  #isOver = false;

  constructor(account: string) {
    this.account = account;
  }

  /** From now on every request throws: who still waits for something waits no more. */
  end(): void {
    this.#isOver = true;
  }

  async fetch(path: string, asked: Asked = {}): Promise<Response> {
    if (this.#isOver) throw new Error('the schedule is over');
    const { body, idempotencyKey, upgrade } = asked;
    return await SELF.fetch(`https://drawbridge.test/api/v1/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${await this.#token()}`,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(upgrade && { upgrade: 'websocket' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  /** {@link fetch}, again and again while a crash eats the answer. */
  async insist(path: string, asked: Asked = {}): Promise<Response> {
    for (;;) {
      const response = await this.fetch(path, asked);
      if (response.status < 500) return response;
      await response.text();
      await sleep(RETRY_MS);
    }
  }

  /** The body of a good answer. */
  async read<Body>(path: string, asked: Asked = {}): Promise<Body> {
    const response = await this.insist(path, asked);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return await response.json<Body>();
  }

  #token(): Promise<string> {
    const token = tokens.get(this.account) ?? tokenFor({ account: this.account });
    tokens.set(this.account, token);
    return token;
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
