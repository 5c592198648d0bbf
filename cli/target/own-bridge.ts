/** Keeps to the folder that a command is used in, where one server has the bridges of several folders. */
import type { Client } from '../../client/index.ts';
import { LocalError } from '../../machine/local-error.ts';
import { CLI_LIMITS } from '../limits.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { entriesOf } from './pages.ts';
import { type ReplacedReport, reportRecent } from './replaced.ts';
import type { Target } from './target.ts';

/**
 * A new conversation's bridge; undefined: the server chooses. `say` gets a line for each bridge whose place a second
 * program has taken within the last day. @throws {LocalError} if only others are connected.
 */
export async function bridgeForNew(
  client: Pick<Client, 'listBridges'> & ReplacedReport['client'],
  { bridgeId, own }: Pick<Target, 'bridgeId' | 'own'>,
  say?: (line: string) => void,
): Promise<string | undefined> {
  if (bridgeId === undefined) return undefined;
  const { items } = await client.listBridges();
  const found = items.find(({ id }) => id === bridgeId);
  if (say) await reportRecent(items, { client, own, say });
  if (found) return found.id;
  if (items.length === 0) return undefined;
  throw new LocalError(
    'failed',
    `This folder is not connected: \`${ownCommand('start')}\` connects it.`,
  );
}

/** Requires that a conversation works in this folder. @throws {LocalError} that names the folder it works in. */
export async function requireHere(
  client: Pick<Client, 'getConversation' | 'getBridge'>,
  { bridgeId: own }: Pick<Target, 'bridgeId'>,
  conversationId: string,
): Promise<void> {
  if (own === undefined) return;
  const bridgeId = await bridgeOf(client, conversationId);
  if (bridgeId === null || bridgeId === own) return;
  const { workspacePath } = await client.getBridge(bridgeId);
  const text = `This conversation works in ${workspacePath}: run the command there.`;
  throw new LocalError('refused', text);
}

/** This folder's conversation that was answered last, without background agents. @throws {LocalError} if none. */
export async function lastConversation(
  client: Pick<Client, 'getConversation' | 'listConversations'>,
  { bridgeId }: Pick<Target, 'bridgeId'>,
): Promise<string> {
  let left = CLI_LIMITS.maxSearchedConversations;
  if (bridgeId !== null) {
    const query = { limit: CLI_LIMITS.searchedAtOnce, bridgeId };
    for await (const { id, agent } of entriesOf((cursor) =>
      client.listConversations({ ...query, cursor }),
    )) {
      // The list has conversations too whose bridge it does not know.
      const isHere = async () =>
        bridgeId === undefined || (await bridgeOf(client, id)) === bridgeId;
      if (agent === undefined && (await isHere())) return id;
      if (--left === 0) break;
    }
  }
  const where = bridgeId === undefined ? '' : ' of this folder';
  throw new LocalError('failed', `There is no conversation${where} to continue.`);
}

async function bridgeOf(client: Pick<Client, 'getConversation'>, id: string) {
  return (await client.getConversation(id, { limit: 1 })).bridgeId;
}
