/** The MCP servers of a machine with their tools, and what to do about one that is off. */
import type { McpServerInfo } from '../../shared/api/listings.ts';
import { inOneLine, inPlainSight, shorten } from '../../shared/text/plain-sight.ts';
import { Folded } from '../parts/folded.tsx';
import { PART_LIMITS } from '../parts/limits.ts';
import { words } from '../words/settings.ts';

export function McpServers({ servers }: { readonly servers: readonly McpServerInfo[] }) {
  if (servers.length === 0) {
    return (
      <p class="hint">
        {words.noServers} <code>drawbridge mcp add</code>
      </p>
    );
  }
  return (
    <ul class="rows">
      {servers.map((server) => (
        <Server key={server.name} server={server} />
      ))}
    </ul>
  );
}

function Server({ server }: { readonly server: McpServerInfo }) {
  const { name, state, why, reason, cutCount, tools } = server;
  return (
    <li>
      <Folded
        summary={
          <>
            <span>MCP {inOneLine(name)}</span>
            <span class={state === 'ready' ? 'on' : 'off'}>
              {words.serverState[why ?? state]}
              {tools.length > 0 && ` · ${words.tools(tools.length)}`}
            </span>
          </>
        }
      >
        {tools.length === 0 && <p class="hint">{words.noTools}</p>}
        <ul>
          {tools.map((tool) => (
            <li key={tool.name}>
              <code>{inOneLine(tool.name)}</code>
              <p class="hint said">
                {inPlainSight(shorten(tool.description, PART_LIMITS.toolDescriptionChars))}
              </p>
            </li>
          ))}
        </ul>
        {cutCount && <p class="hint">{words.notOffered(cutCount)}</p>}
      </Folded>
      {reason && why !== 'login' && <p class="hint">{reason}</p>}
      {why === 'login' && (
        <p class="hint">
          {words.logInThere} <code>drawbridge mcp login {inOneLine(name)}</code>
        </p>
      )}
    </li>
  );
}
