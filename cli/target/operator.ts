/** Requests of a server's operator, who has its AUTH_SECRET. */

import type { Command } from 'commander';
import type * as z from 'zod';
import { causeOf } from '../../client/index.ts';
import { findInstanceIn } from '../../local/state/running.ts';
import { readAuthSecret } from '../../local/state/state.ts';
import { mintToken } from '../../local/state/tokens.ts';
import { LocalError } from '../../machine/local-error.ts';
import { WireError } from '../../shared/errors.ts';
import { parseIfJson } from '../../shared/text/json.ts';
import { MINUTE } from '../../shared/units.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { addLocationOptions, findKept, type LocationOptions } from './location-options.ts';
import { readSecret } from './secret-file.ts';

export interface OperatorOptions extends LocationOptions {
  readonly url?: string;
  readonly secretFile?: string;
}

/** Adds the options that name the server and prove its operator. */
export function addOperatorOptions(command: Command): Command {
  command
    .option('--url <url>', 'another Drawbridge server (default: the one running for the workspace)')
    .option('--secret-file <file>', 'the file with its AUTH_SECRET; goes with --url');
  return addLocationOptions(command);
}

/** Sends one request to a path below `/api/v1/`, and resolves to its answer, which must have this schema. */
export type Operate = <Answer>(
  answer: z.ZodType<Answer>,
  ...request: Parameters<OperatorRequest>
) => Promise<Answer>;

/** Resolves to a success. @throws {LocalError} if the server cannot be reached, or refuses. */
type OperatorRequest = (
  path: string,
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  body?: unknown,
) => Promise<Response>;

/** @throws {UsageError} for one option without the other. @throws {LocalError} if no server runs, or it refuses. */
export async function findOperated(options: OperatorOptions): Promise<Operate> {
  const { url, request } = await findOperatedServer(options);
  return async (answer, ...wanted) => {
    const text = await (await request(...wanted)).text();
    const parsed = answer.safeParse(parseIfJson(text));
    if (parsed.success) return parsed.data;
    throw new LocalError('failed', `The server at ${url} is not a Drawbridge of this version.`);
  };
}

/** For answers that are no JSON. Throws like {@link findOperated}. */
export async function findOperatedServer(
  options: OperatorOptions,
): Promise<{ readonly url: string; readonly request: OperatorRequest }> {
  const { url, secret } = await serverOf(options);
  const base = `${url.replace(/\/+$/, '')}/api/v1/`;
  const request: OperatorRequest = async (path, method = 'GET', body) => {
    const token = await mintToken(secret, { scope: 'operator' }, new Date(), {
      account: 'operator',
    });
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      redirect: 'error',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      const why = causeOf(cause) ?? 'no answer';
      throw new LocalError('failed', `Drawbridge cannot be reached at ${url}: ${why}.`, { cause });
    });
    if (response.ok) return response;
    throw refusalIn(await response.text(), response.status);
  };
  return { url, request };
}

export interface OperatedServer {
  readonly url: string;
  /** Its AUTH_SECRET. */
  readonly secret: string;
}

/** Throws like {@link findOperated}. */
export async function serverOf(options: OperatorOptions): Promise<OperatedServer> {
  const { url, secretFile } = options;
  if (url === undefined && secretFile === undefined) return await localServer(options);
  if (url === undefined || secretFile === undefined) {
    throw new UsageError('--url and --secret-file go together: give both, or neither.');
  }
  if (!URL.canParse(url)) throw new UsageError(`--url takes a URL like https://…, not ${url}.`);
  const [secret = ''] = (await readSecret(secretFile)).split(',');
  return { url, secret };
}

/** The operator acts for any account. For one request or two. */
export async function actingFor(account: string, { url, secret }: OperatedServer) {
  const lifeMs = OPERATOR_MS;
  const token = await mintToken(secret, { scope: 'user' }, new Date(), { account, lifeMs });
  return { url, token };
}

/** More than one request takes. */
const OPERATOR_MS = MINUTE;

async function localServer(options: LocationOptions) {
  const { serverDir } = await findKept(options, 'running');
  const instance = await findInstanceIn(serverDir);
  if (instance) return { url: instance.url, secret: (await readAuthSecret(serverDir)) ?? '' };
  throw new LocalError(
    'failed',
    `No Drawbridge runs here: start one with \`${ownCommand('start')}\`, or give --url and --secret-file.`,
  );
}

function refusalIn(text: string, status: number): LocalError {
  const parsed = WireError.safeParse(parseIfJson(text));
  if (!parsed.success) return new LocalError('failed', `The server answered ${status}.`);
  const { code, message } = parsed.data.error;
  return new LocalError('refused', `${code}: ${message}`);
}
