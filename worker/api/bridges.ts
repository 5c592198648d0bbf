/** `bridges`: lists the caller's bridges, and connects one. */

import type { Context } from 'hono';
import { BridgeDetails, type BridgeInfo, BridgeList } from '../../shared/api/listings.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { BridgeId } from '../../shared/ids.ts';
import { ProcessId, ProcessInfo, ProcessList } from '../../shared/wire/processes.ts';
import type { AppContext } from '../account/caller.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import type { Env } from '../env.ts';
import { accountOf, tunnelOf } from '../objects.ts';
import type { KnownBridge } from '../ports.ts';
import { reach } from '../reach.ts';
import { formatConnectUrl } from '../tunnel/connect-url.ts';

const BRIDGE = { id: { description: 'The bridge.', zod: BridgeId } };

/** The endpoints of this file. */
export const BRIDGES: readonly Endpoint[] = [
  {
    id: 'listBridges',
    method: 'get',
    path: '/api/v1/bridges',
    tag: 'Account',
    summary: 'List bridges, the last connected first',
    access: 'user',
    answers: [jsonAnswer(200, 'The whole list.', BridgeList)],
    handle: async (c) => c.json(await listBridges(c.env, c.var.caller.sub)),
  },
  {
    id: 'getBridge',
    method: 'get',
    path: '/api/v1/bridges/{id}',
    tag: 'Account',
    summary: 'Get a bridge with its MCP servers',
    access: 'user',
    params: BRIDGE,
    answers: [jsonAnswer(200, 'The bridge.', BridgeDetails)],
    handle: async (c) => c.json(await getBridge(c)),
  },
  {
    id: 'listProcesses',
    method: 'get',
    path: '/api/v1/bridges/{id}/processes',
    tag: 'Bridges',
    summary: 'List what runs in the background',
    access: 'user',
    params: BRIDGE,
    answers: [jsonAnswer(200, 'The processes.', ProcessList)],
    errors: ['UNAVAILABLE'],
    handle: async (c) => c.json({ items: await processesOf(c) }),
  },
  {
    id: 'stopProcess',
    method: 'post',
    path: '/api/v1/bridges/{id}/processes/{processId}/stop',
    tag: 'Bridges',
    summary: 'Stop a process',
    access: 'user',
    params: { ...BRIDGE, processId: { description: 'The process.', zod: ProcessId } },
    answers: [jsonAnswer(200, 'The stopped process.', ProcessInfo)],
    errors: ['UNAVAILABLE'],
    handle: async (c) => {
      const id = ProcessId.safeParse(c.req.param('processId')).data;
      const all = id === undefined ? [] : await processesOf(c, id);
      const found = all.find((process) => process.id === id);
      if (!found) throw new DrawbridgeError('NOT_FOUND', 'There is no such process');
      return c.json(found);
    },
  },
  {
    id: 'connectBridge',
    method: 'get',
    path: '/api/v1/bridges/{id}/connect',
    tag: 'Bridges',
    summary: 'Connect a bridge',
    description: 'Opens a WebSocket (`Upgrade: websocket`). Needs a token with the scope `bridge`.',
    access: 'bridge',
    params: { id: { description: 'The bridge that the token names.', zod: BridgeId } },
    answers: [{ status: 101, description: 'The tunnel’s frames follow.' }],
    errors: ['INVALID_REQUEST'],
    handle: async (c) => {
      const { caller } = c.var;
      const bridgeId = c.req.param('id') ?? '';
      if (caller.scope !== 'bridge' || caller.bridge !== bridgeId) {
        throw new DrawbridgeError('FORBIDDEN', 'This token belongs to another bridge');
      }
      if (c.req.header('upgrade')?.toLowerCase() !== 'websocket') {
        throw new DrawbridgeError(
          'INVALID_REQUEST',
          'A bridge connects with a WebSocket: Upgrade: websocket',
        );
      }
      const { sub: account, expiresMs } = caller;
      const response = await tunnelOf(c.env, bridgeId).fetch(
        formatConnectUrl({ account, bridgeId, expiresMs }),
        { headers: { upgrade: 'websocket' } },
      );
      if (response.status === 403)
        throw new DrawbridgeError('FORBIDDEN', 'This bridge belongs to another account');
      return response;
    },
  },
];

async function listBridges(env: Env, account: string): Promise<BridgeList> {
  const known = await reach(() => accountOf(env, account).bridges());
  const items = await Promise.all(known.map((bridge) => describeBridge(env, account, bridge)));
  return { items: items.filter((item) => item !== null) };
}

async function getBridge({
  env,
  var: { caller },
  req,
}: Context<AppContext>): Promise<BridgeDetails> {
  const { sub: account } = caller;
  const id = req.param('id') ?? '';
  const known = await reach(() => accountOf(env, account).bridges());
  const found = known.find((bridge) => bridge.id === id);
  const details = found && (await reach(() => tunnelOf(env, id).details(account)));
  if (!details) throw new DrawbridgeError('NOT_FOUND', 'There is no such bridge');
  return { ...details, lastConnected: new Date(found.connectedAtMs).toISOString() };
}

/** The processes of the bridge, after a stop of one. */
async function processesOf(c: Context<AppContext>, stop?: string): Promise<ProcessInfo[]> {
  const { id } = await getBridge(c);
  const items = await reach(() => tunnelOf(c.env, id).processes(c.var.caller.sub, stop));
  if (items) return items;
  throw new DrawbridgeError('UNAVAILABLE', 'The bridge is offline, or older than processes');
}

/** Null for a bridge that belongs to another account. */
async function describeBridge(
  env: Env,
  account: string,
  { id, connectedAtMs }: KnownBridge,
): Promise<BridgeInfo | null> {
  const status = await reach(() => tunnelOf(env, id).status(account));
  return status && { ...status, lastConnected: new Date(connectedAtMs).toISOString() };
}
