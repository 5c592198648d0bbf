/** Reports that a second program with a machine's key took the place of a bridge: the key may have been copied. */
import { hostname } from 'node:os';
import { type BridgeInfo, type Client, ClientError, isPassing } from '../../client/index.ts';
import { keepAlive } from '../../machine/keep-alive.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { DAY } from '../../shared/units.ts';
import { CLI_LIMITS } from '../limits.ts';
import { ownCommand } from '../terminal/own-command.ts';
import type { OwnBridge } from './target.ts';

/** Where it is read and said. */
export interface ReplacedReport {
  readonly client: Pick<Client, 'listRecords' | 'listSessions'>;
  /** The bridge of this machine: its name is known without the server. */
  readonly own?: Pick<OwnBridge, 'bridgeId'> | undefined;
  readonly say: (line: string) => void;
}

/** Reports each of the bridges that was replaced within the last day. */
export async function reportRecent(
  bridges: readonly BridgeInfo[],
  report: ReplacedReport,
  signal?: AbortSignal,
): Promise<void> {
  const isRecent = ({ replaced = '' }: BridgeInfo) => Date.now() - Date.parse(replaced) < DAY;
  for (const bridge of bridges.filter(isRecent)) await reportOne(bridge, report, signal);
}

/** A chat that is open. */
export interface OpenChat extends Pick<ReplacedReport, 'own'> {
  readonly client: ReplacedReport['client'] & Pick<Client, 'followAccount' | 'listBridges'>;
  /** Set where the chat is new: it has reported those of the last day. */
  readonly bridgeId?: string | undefined;
}

/**
 * Reports each replacement from now on, of any bridge of the account: the person may be in another folder. Resolves with
 * the signal, or once the server refuses the token.
 */
export async function watchReplaced(
  { client, own, bridgeId }: OpenChat,
  say: ReplacedReport['say'],
  signal: AbortSignal,
): Promise<void> {
  const report = { client, own, say };
  let known: ReadonlyMap<string, string | undefined> | undefined;
  const look = async () => {
    const { items } = await client.listBridges(signal);
    const before = known;
    known = new Map(items.map(({ id, replaced }) => [id, replaced]));
    if (!before && bridgeId === undefined) await reportRecent(items, report, signal);
    if (!before) return;
    for (const bridge of items) {
      const isNews = bridge.replaced !== undefined && bridge.replaced !== before.get(bridge.id);
      if (isNews) await reportOne(bridge, report, signal);
    }
  };
  await keepAlive(async () => {
    try {
      for await (const { event } of client.followAccount({ signal })) {
        if (event.type === 'reset') await look();
        // The account hears of a replacement when the second program connects.
        if (event.type === 'bridge' && event.bridge.connected) await look();
      }
    } catch (error) {
      // The chat itself says why the server refuses it.
      if (!(error instanceof ClientError && isPassing(error))) return undefined;
    }
    return CLI_LIMITS.bridgeLookMs;
  }, signal);
}

async function reportOne(
  { id, workspacePath, replaced = '' }: BridgeInfo,
  { client, own, say }: ReplacedReport,
  signal: AbortSignal | undefined,
): Promise<void> {
  const name = (await machineOf(client, id, signal)) ?? (own?.bridgeId === id && hostname());
  const inLine = (text: string) => printableLine(text, REQUEST_LIMITS.maxNameChars);
  const machine = name ? `the machine ${inLine(name)}` : 'its machine';
  say(
    `A second program with the key of ${machine} took over the bridge of ${inLine(workspacePath)} at ${inLine(replaced)}. If you have not started one, the key was copied: end its session (\`${ownCommand('sessions')}\`).`,
  );
}

/** The name of the machine whose session the second program used; undefined for a token without a session. */
async function machineOf(
  client: ReplacedReport['client'],
  bridgeId: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    const [records, sessions] = await Promise.all([
      client.listRecords({}, signal),
      client.listSessions(signal),
    ]);
    const record = records.items.find(
      ({ action, subject }) => action === 'bridge_replaced' && subject === bridgeId,
    );
    return sessions.items.find(({ id }) => id === record?.session)?.name;
  } catch {
    return undefined; // The line matters more than the name.
  }
}
