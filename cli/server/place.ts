/** Finds the workspace of a folder for a program that speaks for a person, such as an editor, and a chat that works there. */
import { isAbsolute } from 'node:path';
import { type Client, createClient } from '../../client/index.ts';
import type { Programs } from '../../local/server/worker.ts';
import { locateState } from '../../local/state/folder.ts';
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
import { joinServer } from './join.ts';

export interface DoorOptions extends TargetOptions {
  /** The mode of a chat for which nothing else is chosen. */
  readonly mode?: string;
}

/** What all chats of one such program share. */
export interface Surroundings {
  readonly options: DoorOptions;
  readonly programs: Programs;
  /** Its words go to stderr: stdout is the protocol's. */
  readonly terminal: Terminal;
}

export interface Place {
  readonly chat: Chat;
  /** The workspace as its bridge names it: a folder of the bridge's machine. */
  readonly folder: string;
}

/**
 * A chat for this folder, in a new conversation or in the named one. The server of this machine is started and the
 * folder connected where they are not, as `drawbridge` does in that folder. `--workspace` stands for any folder.
 * @throws {UsageError | LocalError | ClientError} with what to do.
 */
export async function openPlace(
  { options, programs, terminal }: Surroundings,
  cwd: string,
  conversation?: string,
): Promise<Place> {
  if (!isAbsolute(cwd)) throw new UsageError('cwd: it must be an absolute path.');
  const at = options.workspace ?? cwd;
  const isElsewhere = options.url !== undefined;
  const workspace = isElsewhere ? at : await connect(at, { options, programs, terminal });
  const wanted = { ...options, workspace, reasoning: true, json: true };
  const chat = await openChat(
    { ...wanted, ...(conversation !== undefined && { conversation }) },
    terminal,
  );
  if (isElsewhere && conversation === undefined) {
    const { id: bridgeId, workspacePath } = await findBridge(chat.client, at, options);
    return { chat: { ...chat, bridgeId }, folder: workspacePath };
  }
  return { chat, folder: await folderOf(chat, workspace) };
}

/** The client of an account, and which bridge has this folder; undefined where none has it. */
export async function openAccount(
  surroundings: Surroundings,
  cwd: string | undefined,
): Promise<{ readonly client: Client; readonly bridgeId: string | undefined }> {
  if (cwd === undefined) {
    return { client: createClient(await findTarget(surroundings.options)), bridgeId: undefined };
  }
  const { chat } = await openPlace(surroundings, cwd);
  return { client: chat.client, bridgeId: chat.bridgeId ?? chat.own?.bridgeId };
}

async function connect(
  folder: string,
  { options, programs, terminal }: Surroundings,
): Promise<string> {
  const { state: stateDir } = options;
  const location =
    stateDir === undefined && options.workspace === undefined
      ? await findLocation({}, 'kept', folder)
      : { workspaceDir: folder, stateDir };
  const { place, notices } = await joinServer({ location, programs, terminal });
  for (const notice of notices) terminal.write(`${notice}\n`);
  return place.workspaceDir;
}

/** The bridge of this folder at a Drawbridge elsewhere. This machine's own one wins: others may have a folder of this name. */
async function findBridge(client: Client, folder: string, { url = '' }: DoorOptions) {
  const place = await locateState({ workspaceDir: folder }).catch(() => undefined);
  const own = place && (await readBridgeId(place.projectDir));
  const { items } = await client.listBridges();
  const found =
    items.find(({ id }) => id === own) ??
    items.find(({ workspacePath, connected }) => connected && workspacePath === folder);
  if (found) return found;
  const start = ownCommand('start', '--to', url, '--workspace', folder);
  const others = items.map(({ workspacePath }) => nameInLine(workspacePath)).join(', ');
  throw new LocalError(
    'refused',
    `No bridge at ${url} works in ${nameInLine(folder)}: \`${start}\` connects it, or name another folder with ` +
      `--workspace${others === '' ? '' : ` (${others})`}.`,
  );
}

async function folderOf({ client, bridgeId, own, conversationId }: Chat, workspace: string) {
  const known = bridgeId ?? own?.bridgeId;
  const id =
    known ??
    (conversationId && (await client.getConversation(conversationId, { limit: 1 })).bridgeId);
  return id ? (await client.getBridge(id)).workspacePath : workspace;
}
