/** Makes the stub of a Durable Object from its id. A stub that failed once fails for ever: take a new one each time. */
import type { Env } from './env.ts';
import type { AccountPort } from './ports/account.ts';
import type { Caller, ConversationPort } from './ports/conversation.ts';
import type { DirectoryPort } from './ports/directory.ts';
import type { RunsPort } from './ports/runs.ts';
import type { TunnelPort } from './ports/tunnel.ts';

export function conversationOf(
  { CONVERSATIONS }: Pick<Env, 'CONVERSATIONS'>,
  { conversationId }: Pick<Caller, 'conversationId'>,
): DurableObjectStub<ConversationPort> {
  return CONVERSATIONS.get(CONVERSATIONS.idFromName(conversationId));
}

export function tunnelOf(
  { TUNNELS }: Pick<Env, 'TUNNELS'>,
  bridgeId: string,
): DurableObjectStub<TunnelPort> {
  return TUNNELS.get(TUNNELS.idFromName(bridgeId));
}

export function accountOf(
  { ACCOUNTS }: Pick<Env, 'ACCOUNTS'>,
  account: string,
): DurableObjectStub<AccountPort> {
  return ACCOUNTS.get(ACCOUNTS.idFromName(account));
}

/** The one directory of the server. */
export function directoryOf({
  DIRECTORY,
}: Pick<Env, 'DIRECTORY'>): DurableObjectStub<DirectoryPort> {
  return DIRECTORY.get(DIRECTORY.idFromName('directory'));
}

/** The runs in progress of an own server; undefined on Cloudflare. */
export function runsOf({ RUNS }: Pick<Env, 'RUNS'>): DurableObjectStub<RunsPort> | undefined {
  return RUNS?.get(RUNS.idFromName('runs'));
}
