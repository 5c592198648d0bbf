/** `bridges`: lists the caller's bridges, and connects one. */

import type { Context } from 'hono';
import {
  BridgeDetails,
  type BridgeInfo,
  BridgeList,
  BridgeMove,
} from '../../shared/api/listings.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { BridgeId } from '../../shared/ids.ts';
import { FILE_SEARCH_LIMITS } from '../../shared/limits.ts';
import { type EnrolmentOutcome, EnrolmentRequest } from '../../shared/wire/enrolment.ts';
import { FileQuery, type FoundFile, FoundFiles } from '../../shared/wire/files.ts';
import { MachinePolicy } from '../../shared/wire/policy.ts';
import {
  PortRequest,
  type ProcessAsk,
  ProcessId,
  ProcessInfo,
  ProcessList,
  type ProcessReport,
} from '../../shared/wire/processes.ts';
import { helloSubject } from '../../shared/wire/proof.ts';
import type { AppContext } from '../account/caller.ts';
import { parse, parseBody, parseId } from '../desk/parse.ts';
import { describeQuery, type Endpoint, jsonAnswer } from '../endpoint.ts';
import type { Env } from '../env.ts';
import { accountOf, tunnelOf } from '../objects.ts';
import type { KnownBridge } from '../ports/account.ts';
import { reach } from '../reach.ts';
import { formatConnectUrl } from '../tunnel/connect-url.ts';
import { PUBLIC_KEY } from './examples.ts';
import { record } from './records.ts';

const BRIDGE = { id: { description: 'The bridge.', zod: BridgeId } };
const ENROLMENT = {
  device: {
    deviceId: 'device_0c8f1e5a-3b7d-4a52-9f60-2d1e7b8c9a10',
    label: 'phone',
    publicKey: PUBLIC_KEY,
  },
  mac: 'x'.repeat(43),
};
const PROCESS = { ...BRIDGE, processId: { description: 'The process.', zod: ProcessId } };
const FILE_QUERY = describeQuery({
  schema: FileQuery,
  described: {
    query: { description: 'A part of the path. The characters need not follow one another.' },
    limit: {
      description: 'The most files that are found.',
      schema: {
        type: 'integer',
        minimum: 1,
        maximum: FILE_SEARCH_LIMITS.maxItems,
        default: FILE_SEARCH_LIMITS.defaultItems,
      },
    },
  },
});

const COMMON = { tag: 'Bridges', access: 'user' } as const;

/** The endpoints of this file. */
export const BRIDGES: readonly Endpoint[] = [
  {
    id: 'listBridges',
    needs: 'machines',
    method: 'get',
    path: '/api/v1/bridges',
    tag: 'Account',
    summary: 'List bridges, the last connected first',
    access: 'user',
    answers: [jsonAnswer(200, 'The whole list.', BridgeList)],
    handle: async (c) => c.json(await listBridges(c)),
  },
  {
    id: 'getBridge',
    needs: 'machines',
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
    ...COMMON,
    id: 'listProcesses',
    needs: 'machines',
    method: 'get',
    path: '/api/v1/bridges/{id}/processes',
    summary: 'List what runs in the background',
    params: BRIDGE,
    answers: [jsonAnswer(200, 'The processes.', ProcessList)],
    errors: ['UNAVAILABLE'],
    handle: async (c) => c.json({ items: (await reportOf(c, {})).items }),
  },
  {
    ...COMMON,
    id: 'stopProcess',
    needs: 'machines',
    method: 'post',
    path: '/api/v1/bridges/{id}/processes/{processId}/stop',
    summary: 'Stop a process',
    params: PROCESS,
    answers: [jsonAnswer(200, 'The stopped process.', ProcessInfo)],
    errors: ['UNAVAILABLE'],
    handle: async (c) => {
      const stop = processIn(c);
      return c.json(named(await reportOf(c, { stop }), stop));
    },
  },
  {
    ...COMMON,
    id: 'changePort',
    needs: 'machines',
    method: 'post',
    path: '/api/v1/bridges/{id}/processes/{processId}/ports',
    summary: 'Open or close a port of a process',
    description:
      'Opens a port of the process’s closed network at a loopback address of the bridge’s machine. That takes a `grant`, signed by a device that is enrolled at the bridge. Without one, closes the port.',
    params: PROCESS,
    body: { schema: PortRequest, example: { port: 3000 } },
    answers: [jsonAnswer(200, 'The process with its open ports.', ProcessInfo)],
    errors: ['UNAVAILABLE', 'APPROVAL_REFUSED'],
    handle: async (c) => {
      const processId = processIn(c);
      const request = await parseBody(c, PortRequest);
      const report = await reportOf(c, { port: { processId, ...request } });
      const found = named(report, processId);
      if (report.refused !== undefined)
        throw new DrawbridgeError('APPROVAL_REFUSED', report.refused);
      const isOpen = found.ports?.some(({ port }) => port === request.port) ?? false;
      if (isOpen === (request.grant !== undefined)) return c.json(found);
      throw new DrawbridgeError('UNAVAILABLE', 'The port is not open');
    },
  },
  {
    ...COMMON,
    id: 'findFiles',
    needs: 'person',
    method: 'get',
    path: '/api/v1/bridges/{id}/files',
    summary: 'Find files by a part of their paths',
    description:
      'What of the bridge’s workspace a message may mention: files that the agent can read, folders and rules. Without a `query`, what is open in an editor or was changed last.',
    params: BRIDGE,
    query: FILE_QUERY,
    answers: [jsonAnswer(200, 'The best match comes first.', FoundFiles)],
    errors: ['UNAVAILABLE'],
    handle: async (c) => {
      const query = parse(FileQuery, c.req.query());
      const ask: AskBridge<FoundFile[]> = (tunnel, account) => tunnel.findFiles(account, query);
      return c.json({ items: await askOwn(c, ask, NO_FILES) } satisfies FoundFiles);
    },
  },
  {
    ...COMMON,
    id: 'getPolicy',
    needs: 'person',
    method: 'get',
    path: '/api/v1/bridges/{id}/policy',
    summary: 'Get what the machine allows',
    description:
      'The owner’s rules and the accounts that the machine lets in. They change at the machine alone (`drawbridge policy`, `drawbridge allow`).',
    params: BRIDGE,
    answers: [jsonAnswer(200, 'As its files are now.', MachinePolicy)],
    errors: ['UNAVAILABLE'],
    handle: async (c) => {
      const ask: AskBridge<MachinePolicy> = (tunnel, account) => tunnel.policy(account);
      return c.json(await askOwn(c, ask));
    },
  },
  {
    ...COMMON,
    id: 'enrolDevice',
    needs: 'person',
    method: 'post',
    path: '/api/v1/bridges/{id}/devices',
    summary: 'Enrol a device by a one-use secret',
    description:
      'The bridge’s machine makes the secret (`drawbridge enrol`). The device sends only its MAC over its own key, so that no server can enrol another one. The same request again succeeds while the device is enrolled.',
    params: BRIDGE,
    body: { schema: EnrolmentRequest, example: ENROLMENT },
    answers: [{ status: 204, description: 'The device may approve what the bridge asks about.' }],
    errors: ['UNAVAILABLE', 'ENROLMENT_ENDED'],
    handle: async (c) => {
      const request = await parseBody(c, EnrolmentRequest);
      const ask: AskBridge<EnrolmentOutcome> = (tunnel, account) => tunnel.enrol(account, request);
      const outcome = await askOwn(c, ask);
      if (outcome === 'enrolled') return c.body(null, 204);
      if (outcome === 'ended') throw new DrawbridgeError('ENROLMENT_ENDED', NO_SECRET);
      throw new DrawbridgeError('UNAVAILABLE', NOT_ENROLLED);
    },
  },
  {
    ...COMMON,
    id: 'allowMove',
    needs: 'person',
    method: 'post',
    path: '/api/v1/bridges/{id}/move',
    summary: 'Let a bridge move to another machine',
    description:
      'Once, within ten minutes: to the machine with this key (`drawbridge connect --move` there).',
    params: BRIDGE,
    body: { schema: BridgeMove, example: { key: PUBLIC_KEY } },
    answers: [{ status: 204, description: 'It may move.' }],
    errors: ['UNAVAILABLE'],
    handle: async (c) => {
      const { key } = await parseBody(c, BridgeMove);
      await askOwn(c, async (tunnel, account) => (await tunnel.allowMove(account, key)) || null);
      const subject = c.req.param('id') ?? '';
      await record(c, c.var.caller.sub, { action: 'bridge_move_allowed', subject });
      return c.body(null, 204);
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
      const { sub: account, expiresMs, sid: session } = caller;
      const [, token = ''] = (c.req.header('authorization') ?? '').split(/ +/);
      const challenge = `${Date.now()}.${crypto.randomUUID()}`;
      const subject = await helloSubject(bridgeId, token, challenge);
      const { origin } = new URL(c.req.url);
      const response = await tunnelOf(c.env, bridgeId).fetch(
        formatConnectUrl({ account, bridgeId, expiresMs, session, origin, subject, challenge }),
        { headers: { upgrade: 'websocket' } },
      );
      if (response.status === 403)
        throw new DrawbridgeError('FORBIDDEN', 'This bridge belongs to another account');
      return response;
    },
  },
];

async function listBridges(c: Context<AppContext>): Promise<BridgeList> {
  const {
    env,
    var: { caller },
  } = c;
  const known = await knownBridges(c);
  const items = await Promise.all(known.map((bridge) => describeBridge(env, caller.sub, bridge)));
  return { items: items.filter((item) => item !== null) };
}

type ConnectedAt = Pick<KnownBridge, 'id' | 'connectedAtMs'>;

/** For a user of an app, those of its key. */
async function knownBridges({ env, var: { caller } }: Context<AppContext>): Promise<ConnectedAt[]> {
  const { sub, app } = caller;
  if (!app) return await reach(() => accountOf(env, sub).bridges());
  return (app.key.terms.bridges ?? []).map((id) => ({ id, connectedAtMs: 0 }));
}

async function getBridge(c: Context<AppContext>): Promise<BridgeDetails> {
  const {
    env,
    var: { caller },
    req,
  } = c;
  const { sub: account } = caller;
  const id = req.param('id') ?? '';
  const known = await knownBridges(c);
  const found = known.find((bridge) => bridge.id === id);
  const details = found && (await reach(() => tunnelOf(env, id).details(account)));
  if (!details) throw new DrawbridgeError('NOT_FOUND', 'There is no such bridge');
  return { lastConnected: new Date(found.connectedAtMs).toISOString(), ...details };
}

/** Asks a bridge on behalf of an account; null where it is offline. */
type AskBridge<Answer> = (
  tunnel: ReturnType<typeof tunnelOf>,
  account: string,
) => Promise<Answer | null>;

/** The answer of the bridge that the path names, which only its owner may ask. `otherwise` says why there is none. */
async function askOwn<Answer>(
  c: Context<AppContext>,
  ask: AskBridge<Answer>,
  otherwise = 'The bridge is offline',
): Promise<Answer> {
  const { id, shared } = await getBridge(c);
  if (shared) throw new DrawbridgeError('NOT_FOUND', 'Only the owner of the bridge may do that');
  const answer = await reach<Answer | null>(() => ask(tunnelOf(c.env, id), c.var.caller.sub));
  if (answer !== null) return answer;
  throw new DrawbridgeError('UNAVAILABLE', otherwise);
}

function processIn(c: Context): string {
  return parseId(ProcessId, c.req.param('processId'), 'process');
}

function named({ items }: ProcessReport, id: string): ProcessInfo {
  const found = items.find((process) => process.id === id);
  if (found) return found;
  throw new DrawbridgeError('NOT_FOUND', 'There is no such process');
}

/** The processes of the bridge, after what is asked. */
async function reportOf(c: Context<AppContext>, ask: ProcessAsk): Promise<ProcessReport> {
  return await askOwn<ProcessReport>(c, (tunnel, account) => tunnel.processes(account, ask));
}

const NO_SECRET =
  'No open secret of the machine fits this device: each counts for one device, for ten minutes';
const NOT_ENROLLED = 'The bridge could not enrol the device: see its log';
const NO_FILES = 'The bridge is offline, or could not list its files: see its log';

/** Null for a bridge that the account may not use. */
async function describeBridge(
  env: Env,
  account: string,
  { id, connectedAtMs }: ConnectedAt,
): Promise<BridgeInfo | null> {
  const status = await reach(() => tunnelOf(env, id).status(account));
  return status && { lastConnected: new Date(connectedAtMs).toISOString(), ...status };
}
