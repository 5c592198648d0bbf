/** The operator's view of accounts, for tests. */
import { runDurableObjectAlarm, SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { AccountExportLine, AccountStanding } from '../../../shared/api/accounts.ts';
import { accountOf } from '../../../worker/objects.ts';
import { tokenFor } from '../api.ts';
import { SERVER } from './people.ts';

/** A request of the operator to `/api/v1/…`. */
export async function operate(path: string, method = 'GET', body?: object): Promise<Response> {
  const token = await tokenFor({ account: 'operator', claims: { scope: 'operator' } });
  return await SELF.fetch(`${SERVER.url}/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  });
}

export function pathOf(account: string): string {
  return `accounts/${encodeURIComponent(account)}`;
}

/** The account after the request, which must succeed. */
async function standing(response: Response): Promise<AccountStanding> {
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return AccountStanding.parse(await response.json());
}

export async function look(account: string): Promise<AccountStanding> {
  return await standing(await operate(pathOf(account)));
}

export async function setState(
  account: string,
  state: 'active' | 'suspended',
): Promise<AccountStanding> {
  return await standing(await operate(pathOf(account), 'PATCH', { state }));
}

export async function remove(account: string): Promise<AccountStanding> {
  return await standing(await operate(pathOf(account), 'DELETE'));
}

/** Lets the alarms of the account run until none is set. */
export async function runAlarms(account: string): Promise<void> {
  while (await runDurableObjectAlarm(accountOf(env, account)));
}

export async function exported(account: string): Promise<AccountExportLine[]> {
  const response = await operate(`${pathOf(account)}/export`);
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const lines = (await response.text()).trimEnd().split('\n');
  return lines.map((line) => AccountExportLine.parse(JSON.parse(line)));
}
