/** `me`, `models`, `tools`, `bridges`: what there is for the caller. */
import { Hono } from 'hono/tiny';
import type { BridgeInfo, BridgeList, Me, ToolList } from '../../shared/listings.ts';
import { TOOLS } from '../../shared/tools/catalogue.ts';
import { toFunctionDefinition } from '../../shared/tools/definition.ts';
import type { Env } from '../env.ts';
import { accountOf, tunnelOf } from '../objects.ts';
import type { AppContext } from '../people/caller.ts';
import type { KnownBridge } from '../ports.ts';
import { reach } from '../reach.ts';
import { listModels } from '../upstream/models.ts';

export const listings = new Hono<AppContext>()
  .get('/me', (c) => c.json({ account: c.var.caller.sub, scope: 'user' } satisfies Me))
  .get('/models', (c) => c.json(listModels(c.env)))
  .get('/tools', (c) => c.json(TOOL_LIST))
  .get('/bridges', async (c) => c.json(await listBridges(c.env, c.var.caller.sub)));

const TOOL_LIST: ToolList = {
  items: TOOLS.map((tool) => {
    const { name, description, parameters } = toFunctionDefinition(tool).function;
    return { name, aliases: [...tool.aliases], description, effect: tool.effect, parameters };
  }),
};

async function listBridges(env: Env, account: string): Promise<BridgeList> {
  const known = await reach(() => accountOf(env, account).bridges());
  const items = await Promise.all(known.map((bridge) => describeBridge(env, account, bridge)));
  return { items: items.filter((item) => item !== null) };
}

/** Null for a bridge that turned out to be another account's. */
async function describeBridge(
  env: Env,
  account: string,
  { id, connectedAtMs }: KnownBridge,
): Promise<BridgeInfo | null> {
  const status = await reach(() => tunnelOf(env, id).status(account));
  return status && { ...status, lastConnected: new Date(connectedAtMs).toISOString() };
}
