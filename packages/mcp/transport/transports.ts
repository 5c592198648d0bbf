/** The ways to an MCP server: a program on this machine, or an address. */

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type FetchLike,
  isJSONRPCRequest,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { DEFAULT_INHERITED_ENV_VARS } from '@modelcontextprotocol/client/stdio';
import { agentFolders } from '../../../machine/agent-folders.ts';
import type { Environment } from '../../../machine/environment.ts';
import { nameInLine } from '../../../shared/text/plain-sight.ts';
import { readLogin, storedLogin } from '../login/login-file.ts';
import type { HttpConfig, StdioConfig } from '../server-list.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { confinedStart, type ServerSandbox } from './confined.ts';
import { searchPathOutside, valuesInto } from './leading-in.ts';
import { BROKEN_STREAM } from './sdk-errors.ts';
import { StdioTransport } from './stdio-transport.ts';
import { withVariables } from './variables.ts';

/** A transport that may know why it ended. */
export type SomeTransport = Transport & Partial<Pick<StdioTransport, 'endReason'>>;

export interface HttpOptions {
  /** Of the server's login, which may not be there. */
  readonly loginFile?: string;
  /** In the place of `fetch`. */
  readonly fetch?: FetchLike;
  /** A message of the server was longer than `MCP_LIMITS.maxMessageBytes`. */
  readonly onTooLong: (reason: string) => void;
}

/** Without a login the server is asked all the same: most demand none. */
export async function httpTransport(
  { url, headers }: HttpConfig,
  { loginFile = '', fetch, onTooLong }: HttpOptions,
): Promise<SomeTransport> {
  const login = loginFile === '' ? undefined : await readLogin(loginFile, url);
  return new HttpTransport(new URL(url), {
    requestInit: { headers },
    fetch: boundedFetch(onTooLong, fetch),
    ...(login && { authProvider: storedLogin(loginFile, login) }),
  });
}

type TransportSendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/** The SDK waits on where the stream of an answer breaks before the answer: the call would end with its time. */
class HttpTransport extends StreamableHTTPClientTransport {
  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      // After an answer the SDK no longer knows the id, and ignores this.
      if (!isJSONRPCRequest(message)) return;
      this.onmessage?.({ jsonrpc: '2.0', id: message.id, error: BROKEN_STREAM });
    };
    await super.send(message, { ...options, onRequestStreamEnd });
  }
}

export interface StdioOptions {
  /** Of the list: where a program outside the sandbox runs, since the agent may write to the workspace. Absolute. */
  readonly folder: string;
  /** Absolute. A program in the sandbox runs here. */
  readonly workspace: string;
  /** Of the bridge. A program gets the few variables of it that name no secret. */
  readonly environment: Environment;
  /** For servers that are to run in it. */
  readonly sandbox?: ServerSandbox | undefined;
  /** Takes what the program writes to stderr. */
  readonly onStderr: (text: string) => void;
}

/** A server with `sandbox` never starts without one. */
export function stdioTransport(config: StdioConfig, options: StdioOptions): SomeTransport {
  const { workspace, sandbox, onStderr } = options;
  if (config.sandbox)
    return new StdioTransport(confinedStart(config, workspace, sandbox), onStderr);
  return new StdioTransport(async (spawn) => {
    const environment = await environmentOutside(options);
    const reason = await whyNotOutside(config, { ...options, environment });
    if (reason !== null) throw new Error(reason);
    const { command: file, args, env, cwd = '.' } = config;
    const given = DEFAULT_INHERITED_ENV_VARS.flatMap((name) =>
      environment[name] ? [[name, environment[name]]] : [],
    );
    void spawn({
      file,
      args,
      cwd: resolve(options.folder, cwd),
      inputs: [],
      hasPidNamespace: false,
      env: { ...Object.fromEntries(given), ...env },
    });
  }, onStderr);
}

type Outside = Pick<StdioOptions, 'folder' | 'workspace' | 'environment'>;

/** The bridge's environment, whose `PATH` leads to no program that the agent could have written. */
async function environmentOutside(place: Outside): Promise<StdioOptions['environment']> {
  let PATH = place.environment['PATH'] ?? '';
  for (const folder of await writtenFolders(place)) PATH = await searchPathOutside(PATH, folder);
  return { ...place.environment, PATH };
}

/** The folders that agents of this machine write to: the workspace first. */
async function writtenFolders({ folder, workspace }: Outside): Promise<readonly string[]> {
  return [...new Set([workspace, ...(await agentFolders(folder))])];
}

/** Why a program does not run outside the sandbox, in words for its owner; null where it does. */
export async function whyNotOutsideSandbox(
  config: StdioConfig,
  place: Outside,
): Promise<string | null> {
  try {
    const filled = withVariables(config, place);
    return await whyNotOutside(filled, { ...place, environment: await environmentOutside(place) });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function whyNotOutside(config: StdioConfig, place: Outside): Promise<string | null> {
  const { workspace } = place;
  for (const folder of await writtenFolders(place)) {
    const values = await valuesInto(config, { ...place, workspace: folder });
    if (values.length === 0) continue;
    const leads = `${values.join(' and ')} ${values.length === 1 ? 'leads' : 'lead'}`;
    const changes = 'the agent could change what it runs';
    return folder === workspace
      ? `${leads} into the workspace, where ${changes}: ${ONLY_CONFINED}`
      : `${leads} into ${nameInLine(folder)}, where ${changes} as long as that folder is connected: ${ONLY_CONFINED}`;
  }
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || (await stat(workspace)).uid === 0) return null;
  return `root would run it in the workspace of another user: ${ONLY_CONFINED}`;
}

const ONLY_CONFINED = 'it runs only with "sandbox": true';
