/** The machines with their folders: what is connected there, and what runs. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { BridgeInfo } from '../../client/index.ts';
import type { BridgeDetails } from '../../shared/api/listings.ts';
import type { ProcessInfo } from '../../shared/wire/processes.ts';
import { useLive } from '../live.ts';
import { type Account, LIST } from '../store/account.ts';
import { shortTime } from '../words/short.ts';
import { words } from '../words/words.ts';

export function Machines({ account }: { readonly account: Account }) {
  useLive(account.live, LIST);
  return (
    <>
      <h2>{words.machines}</h2>
      {account.bridges.length === 0 && (
        <p class="hint">
          {words.noMachines} <code>drawbridge</code>
        </p>
      )}
      <ul class="rows">
        {account.bridges.map((bridge) => (
          <Machine key={bridge.id} account={account} bridge={bridge} />
        ))}
      </ul>
    </>
  );
}

interface Props {
  readonly account: Account;
  readonly bridge: BridgeInfo;
}

function Machine({ account, bridge }: Props) {
  const { workspacePath, connected, lastConnected, confinement } = bridge;
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <code>{workspacePath}</code>
          <span class={connected ? 'on' : 'off'}>
            {connected ? words.online : words.lastUsed(shortTime(lastConnected))}
          </span>
        </summary>
        <p class="hint">{confinement.detail}</p>
        {isOpen && <Inside account={account} bridge={bridge} />}
      </details>
    </li>
  );
}

/** Read when it is opened. */
function Inside({ account: { client }, bridge: { id, shared } }: Props) {
  const [details, setDetails] = useState<BridgeDetails>();
  const [processes, setProcesses] = useState<readonly ProcessInfo[]>([]);
  const read = useCallback(async () => {
    setDetails(await client.getBridge(id));
    // An offline machine says nothing of its processes.
    if (!shared) setProcesses((await client.listProcesses(id).catch(() => ({ items: [] }))).items);
  }, [client, id, shared]);
  useEffect(() => void read(), [read]);
  return (
    <ul class="rows">
      {details?.mcpServers.map(({ name, state, reason, toolCount }) => (
        <li key={name}>
          <span>MCP {name}</span>
          <span class={state === 'ready' ? 'on' : 'off'}>
            {words.serverState[state]} · {words.tools(toolCount)}
          </span>
          {reason && <span class="hint">{reason}</span>}
        </li>
      ))}
      {processes.map(({ id: processId, command, running, end }) => (
        <li key={processId}>
          <code>{command}</code>
          {running ? (
            <button
              type="button"
              onClick={async () => {
                await client.stopProcess(id, processId);
                await read();
              }}
            >
              {words.stop}
            </button>
          ) : (
            <span class="hint">{end}</span>
          )}
        </li>
      ))}
    </ul>
  );
}
