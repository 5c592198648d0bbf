/** The machines with their folders: what is connected there, what runs, and what is allowed. */
import { useCallback } from 'preact/hooks';
import type { BridgeInfo } from '../../client/index.ts';
import { inOneLine, inPlainSight } from '../../shared/text/plain-sight.ts';
import { useLive } from '../live.ts';
import { Answer } from '../parts/answer.tsx';
import { Folded } from '../parts/folded.tsx';
import { LIST, type PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';
import { shortTime } from '../words/short.ts';
import { McpServers } from './mcp-servers.tsx';
import { Policy } from './policy.tsx';

export function Machines({ account }: { readonly account: PageAccount }) {
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

interface MachineProps {
  readonly account: PageAccount;
  readonly bridge: BridgeInfo;
}

function Machine({ account, bridge }: MachineProps) {
  const { workspacePath, lastConnected, confinement } = bridge;
  const state = account.stateOf(bridge);
  return (
    <li>
      <Folded
        summary={
          <>
            <code>{inOneLine(workspacePath)}</code>
            <span class={state === 'online' ? 'on' : 'off'}>
              {state === 'offline'
                ? words.lastUsed(shortTime(lastConnected))
                : words.machineState[state]}
            </span>
          </>
        }
      >
        <p class="hint">{confinement.detail}</p>
        {bridge.replaced && <p class="hint">{words.replaced(shortTime(bridge.replaced))}</p>}
        {bridge.shared ? (
          <p class="hint">{words.ofOthers}</p>
        ) : (
          <Own account={account} bridge={bridge} />
        )}
      </Folded>
    </li>
  );
}

/** Of a machine of one's own. */
function Own({ account, bridge: { id, connected } }: MachineProps) {
  const { client } = account;
  const read = useCallback((signal: AbortSignal) => client.getBridge(id, signal), [client, id]);
  return (
    <div class="policy">
      <Answer read={read}>{({ mcpServers }) => <McpServers servers={mcpServers} />}</Answer>
      {connected ? (
        <>
          <Processes account={account} bridgeId={id} />
          <Folded summary={words.policy}>
            <Policy account={account} bridgeId={id} />
          </Folded>
        </>
      ) : (
        <p class="hint">
          {words.machineOffline} <code>drawbridge start</code>
        </p>
      )}
    </div>
  );
}

function Processes({
  account: { client },
  bridgeId,
}: {
  readonly account: PageAccount;
  readonly bridgeId: string;
}) {
  const read = useCallback(
    (signal: AbortSignal) => client.listProcesses(bridgeId, signal),
    [client, bridgeId],
  );
  return (
    <Answer read={read}>
      {({ items }, again) => (
        <ul class="rows">
          {items.length === 0 && <li class="hint">{words.noProcesses}</li>}
          {items.map(({ id, command, running, exitCode, end }) => (
            <li key={id}>
              <code>{inPlainSight(command)}</code>
              {running ? (
                <button
                  type="button"
                  onClick={async () => {
                    await client.stopProcess(bridgeId, id);
                    again();
                  }}
                >
                  {words.stop}
                </button>
              ) : (
                <span class="hint">{exitCode === undefined ? end : words.exit(exitCode)}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Answer>
  );
}
