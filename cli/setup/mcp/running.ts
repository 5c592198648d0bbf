/** What the bridge of a folder says of its MCP servers at this moment. */

import type { McpServerReport } from '../../../shared/wire/mcp-servers.ts';
import { CLI_LIMITS } from '../../limits.ts';
import type { LocationOptions } from '../../target/location-options.ts';

/** Empty where no bridge runs here, or it does not answer soon: the lists that need it go on without it. */
export async function runningServers(
  options: LocationOptions,
  projectDir: string,
): Promise<readonly McpServerReport[]> {
  try {
    const { readBridgeId } = await import('../../../local/state/state.ts');
    const bridgeId = await readBridgeId(projectDir);
    if (bridgeId === undefined) return [];
    const { findTarget } = await import('../../target/target.ts');
    const { createClient } = await import('../../../client/index.ts');
    const client = createClient(await findTarget(options));
    const signal = AbortSignal.timeout(CLI_LIMITS.bridgeAnswerMs);
    const { connected, mcpServers } = await client.getBridge(bridgeId, signal);
    return connected ? mcpServers : [];
  } catch {
    return [];
  }
}
