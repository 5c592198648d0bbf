/** What became of a command that runs on in the background. Its conversation does not learn it: its machine is asked. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ClientError, type PageClient } from '../../client/index.ts';
import { SECOND } from '../../shared/units.ts';
import type { ProcessInfo, ProcessList } from '../../shared/wire/processes.ts';
import { useLive } from '../live.ts';
import { useReading } from '../parts/use-reading.ts';
import { LIST, type PageAccount } from '../store/account.ts';
import type { ShownThread } from '../store/thread-host.ts';
import { words } from '../words/settings.ts';

interface BackgroundProps {
  readonly account: PageAccount;
  readonly thread: ShownThread;
  readonly processId: string;
}

/** Nothing until the machine has answered. */
export function Background({ account, thread, processId }: BackgroundProps) {
  const { client, live } = account;
  useLive(live, LIST);
  const bridge = account.bridgeOf(thread.view?.bridgeId ?? null);
  // Another account's machine lists no processes.
  const bridgeId = bridge?.connected && !bridge.shared ? bridge.id : undefined;
  const [found, setFound] = useState<Partial<ProcessInfo>>();
  const read = useCallback(async () => {
    if (bridgeId === undefined) return;
    try {
      const { items } = await listOnce(client, bridgeId);
      setFound(items.find(({ id }) => id === processId) ?? GONE);
    } catch (error) {
      // The account's stream says what is wrong.
      if (!(error instanceof ClientError)) throw error;
    }
  }, [client, bridgeId, processId]);
  useReading(read);
  useEffect(() => {
    if (!found?.running) return;
    const again = setInterval(() => void (document.hidden || read()), AGAIN_MS);
    return () => clearInterval(again);
  }, [found?.running, read]);
  if (!found) return null;
  const { running, exitCode, end } = found;
  if (running) return <span class="running">{words.running}</span>;
  if (exitCode === undefined) return <span>{end ?? words.hasEnded}</span>;
  return <span class={exitCode === 0 ? 'good' : 'bad'}>{words.exit(exitCode)}</span>;
}

/** It ended with its machine's bridge, or so long ago that the bridge forgot how. */
const GONE = { running: false };

const AGAIN_MS = 5 * SECOND;

const asked = new Map<string, Promise<ProcessList>>();

/** Several commands that are shown together ask once. */
function listOnce(client: PageClient, bridgeId: string): Promise<ProcessList> {
  const known = asked.get(bridgeId);
  if (known) return known;
  const answer = client.listProcesses(bridgeId).finally(() => asked.delete(bridgeId));
  asked.set(bridgeId, answer);
  return answer;
}
