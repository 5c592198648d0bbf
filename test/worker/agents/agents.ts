/** What the tests of agents share: requests as one account, and waiting for a status. */
import { SELF } from 'cloudflare:test';
import { vi } from 'vitest';
import { Agent, AgentList } from '../../../shared/api/agents.ts';
import type { AgentStatus } from '../../../shared/api/conversations.ts';
import { call, tokenFor } from '../api.ts';

export function newAccount(): string {
  return `ada-${crypto.randomUUID()}`;
}

export function post(
  account: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return call(`agents${path}`, { method: 'POST', account, body, headers });
}

export async function create(
  account: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Agent> {
  return Agent.parse(await (await post(account, '', { prompt: 'Fix it', ...more })).json());
}

export async function read(account: string, id: string): Promise<Agent> {
  return Agent.parse(await (await call(`agents/${id}`, { account })).json());
}

export async function list(account: string, query = ''): Promise<AgentList> {
  return AgentList.parse(await (await call(`agents${query}`, { account })).json());
}

/** Waits until the agent and its account's list both show the status. */
export async function untilStatus(
  account: string,
  id: string,
  status: AgentStatus,
): Promise<Agent> {
  return await vi.waitFor(async () => {
    const agent = await read(account, id);
    const { items } = await list(account, `?status=${status}`);
    if (agent.status !== status || !items.some((item) => item.id === id)) {
      throw new Error(`${agent.status}, and listed: ${JSON.stringify(items)}`);
    }
    return agent;
  });
}

/** The JSON of a path below `/v1/agents`, which has Cursor's shapes. */
export async function cursor(
  account: string,
  method: string,
  path: string,
  body?: unknown,
  key?: string,
  // biome-ignore lint/suspicious/noExplicitAny: what a client reads has no type here.
): Promise<any> {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  return await (await askCursor(account, method, path, { body, headers })).json();
}

/** The answer of a path below `/v1/agents`. */
export async function askCursor(
  account: string,
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Response> {
  return await SELF.fetch(`https://drawbridge.test/v1/agents${path}`, {
    method,
    headers: { authorization: `Bearer ${await tokenFor({ account })}`, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}
