/** Offered tools: those of the owner's MCP servers, and those that the program around the bridge brings. */

import { OfferFeed, ReportFeed } from '../../packages/host/index.ts';
import { McpServers, serverFileIn } from '../../packages/mcp/index.ts';
import type { BridgeGround, Feature } from '../feature.ts';

export function offeredTools({
  config,
  workspace,
  confinement,
  guard,
  offers,
  owner,
}: BridgeGround): Feature {
  const offered = new OfferFeed(async () =>
    offers.isEmpty ? null : offers.set(await owner.readTrust()),
  );
  offers.onChange(() => offered.update());
  const servers = new McpServers({
    workspace: workspace.root,
    file: serverFileIn(config.stateDir),
    offers,
    environment: config.environment,
    sandbox: { confinement, guard },
    onChange: () => reported.update(),
  });
  const reported = new ReportFeed(() => ({ type: 'mcp_servers', servers: servers.reports }));
  return {
    find: (name) => offers.find(name),
    feeds: [offered, reported],
    hello: () => offered.introduce(),
    answers: {
      offers_wanted: async () => {
        offered.update({ isWanted: true });
        return undefined;
      },
    },
    start: () => servers.start(),
    end: () => servers.end(),
  };
}
