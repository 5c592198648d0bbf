/** Finds the workspace of a folder for a program that speaks for a person, such as an editor, and a chat that works there. */
import { isAbsolute } from 'node:path';
import { type BridgeInfo, type Client, createClient } from '../../client/index.ts';
import type { Programs } from '../../local/server/worker.ts';
import { locateState, type StateLocation } from '../../local/state/folder.ts';
import { readBridgeId } from '../../local/state/state.ts';
import { LocalError } from '../../machine/local-error.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { Chat } from '../chat/chat.ts';
import { openChat } from '../chat/options.ts';
import { findLocation } from '../target/location-options.ts';
import { findTarget, type TargetOptions } from '../target/target.ts';
import { ownCommand } from '../terminal/own-command.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { type Joined, joinServer } from './join.ts';

export interface DoorOptions extends TargetOptions {
  /** The mode of a chat for which nothing else is chosen. */
  readonly mode?: string;
}

/** What all chats of one such program share. */
export interface PlaceSurroundings {
  readonly options: DoorOptions;
  readonly programs: Programs;
  /** Its words go to stderr: stdout is the protocol's. */
  readonly terminal: Terminal;
}

export interface ServedPlace {
  readonly chat: Chat;
  /** The workspace as its bridge names it: a folder of the bridge's machine. */
  readonly folder: string;
  /** Starts this machine's server again if it has stopped. @throws {LocalError} if not, or at another address. */
  rejoin(): Promise<void>;
}

/**
 * A chat for this folder, in a new conversation or in the named one. The server of this machine is started and the
 * folder connected where they are not, as `drawbridge` does in that folder. `--workspace` stands for any folder.
 * @throws {UsageError | LocalError | ClientError} with what to do.
 */
export async function openPlace(
  surroundings: PlaceSurroundings,
  cwd: string,
  conversation?: string,
): Promise<ServedPlace> {
  const { options, terminal } = surroundings;
  const at = folderFor(options, cwd);
  const joined = options.url === undefined ? await connect(at, surroundings) : undefined;
  const workspace = joined?.place.workspaceDir ?? at;
  const wanted = { ...options, workspace, reasoning: true, json: true };
  const named = conversation !== undefined && { conversation };
  const chat = await openChat({ ...wanted, ...named }, terminal);
  const rejoin = async () => {
    const again = joined && (await connect(at, surroundings));
    if (again?.url !== joined?.url) throw new LocalError('failed', OTHER_ADDRESS);
  };
  if (joined || conversation !== undefined) {
    return { chat, folder: await folderOf(chat, workspace), rejoin };
  }
  const bridges = await listBridges(chat.client, at);
  if (!bridges.here) throw new LocalError('refused', notConnected(at, options, bridges.others));
  const { id: bridgeId, workspacePath } = bridges.here;
  return { chat: { ...chat, bridgeId }, folder: workspacePath, rejoin };
}

const OTHER_ADDRESS =
  'The server was started again at another address: start or load the session again.';

function folderFor({ workspace }: DoorOptions, cwd: string): string {
  if (isAbsolute(cwd)) return workspace ?? cwd;
  throw new UsageError('cwd: it must be an absolute path.');
}

/** The client of an account. */
export interface PlaceAccount {
  readonly client: Client;
  /** The bridge of the folder that was named. */
  readonly bridgeId?: string;
}

/** Connects no folder. Undefined if a folder is named that was never connected: no conversation is of it. */
export async function openAccount(
  surroundings: PlaceSurroundings,
  cwd?: string,
): Promise<PlaceAccount | undefined> {
  const { options } = surroundings;
  if (cwd === undefined) return { client: createClient(await findTarget(options)) };
  const at = folderFor(options, cwd);
  if (options.url !== undefined) {
    const client = createClient(await findTarget(options));
    const { here } = await listBridges(client, at);
    return here && { client, bridgeId: here.id };
  }
  const { projectDir } = await locateState(await locationFor(at, options));
  if ((await readBridgeId(projectDir)) === undefined) return undefined;
  const { chat } = await openPlace(surroundings, cwd);
  const bridgeId = chat.bridgeId ?? chat.own?.bridgeId;
  return { client: chat.client, ...(bridgeId !== undefined && { bridgeId }) };
}

async function connect(
  folder: string,
  { options, programs, terminal }: PlaceSurroundings,
): Promise<Joined> {
  const location = await locationFor(folder, options);
  const joined = await joinServer({ location, programs, terminal });
  for (const notice of joined.notices) terminal.write(`${notice}\n`);
  return joined;
}

/** A folder below a known project means that project, unless the options name the folder or its state. */
async function locationFor(
  folder: string,
  { workspace, state: stateDir }: DoorOptions,
): Promise<StateLocation> {
  const isNamed = workspace !== undefined || stateDir !== undefined;
  return isNamed ? { workspaceDir: folder, stateDir } : await findLocation({}, 'kept', folder);
}

/** The bridge of this folder, and all others. This machine's own one wins: others may have a folder of this name. */
async function listBridges(client: Client, folder: string) {
  const place = await locateState({ workspaceDir: folder }).catch(() => undefined);
  const own = place && (await readBridgeId(place.projectDir));
  const { items } = await client.listBridges();
  const spelled = [folder, place?.workspaceDir];
  const here =
    items.find(({ id }) => id === own) ??
    items.find(({ workspacePath, connected }) => connected && spelled.includes(workspacePath));
  return { here, others: items.filter((bridge) => bridge !== here) };
}

function notConnected(
  folder: string,
  { url = '' }: DoorOptions,
  others: readonly BridgeInfo[],
): string {
  const start = ownCommand('start', '--to', url, '--workspace', folder);
  const known = others.map(({ workspacePath }) => nameInLine(workspacePath)).join(', ');
  return (
    `No bridge at ${url} works in ${nameInLine(folder)}: \`${start}\` connects it, or name another folder with ` +
    `--workspace${known === '' ? '' : ` (${known})`}.`
  );
}

async function folderOf({ client, bridgeId, own, conversationId }: Chat, workspace: string) {
  const known = bridgeId ?? own?.bridgeId;
  const id =
    known ??
    (conversationId && (await client.getConversation(conversationId, { limit: 1 })).bridgeId);
  return id ? (await client.getBridge(id)).workspacePath : workspace;
}
