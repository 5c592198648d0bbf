/** `drawbridge login` and `logout`: the session of this machine at a Drawbridge elsewhere. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import {
  beginLogin,
  ClientError,
  createClient,
  enter,
  fingerprintOf,
  newSessionKey,
  type SessionSigner,
} from '../../client/index.ts';
import {
  findLogin,
  forgetLogin,
  type KeptLogin,
  keepLogin,
  plainUrl,
  readLogins,
} from '../../local/state/logins.ts';
import { openServerState } from '../../local/state/state.ts';
import { LocalError } from '../../machine/local-error.ts';
import { SESSION_LIMITS } from '../../shared/limits.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { CLI_LIMITS } from '../limits.ts';
import { type LocationOptions, stateDirOf } from '../target/location-options.ts';
import { fetchWith, signedInBy } from '../target/signed-in.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { shortLine } from '../terminal/short-line.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';

type StateOption = Pick<LocationOptions, 'state'>;

interface LoginOptions extends StateOption {
  readonly headerFile?: string;
}

const STATE_HELP = 'the folder of the keys (default: one for all your projects)';

export function registerLogin(program: Command): void {
  program
    .command('login')
    .description('Sign this machine in at another Drawbridge server, by an invitation or a code')
    .argument(
      '<link>',
      'the link of an invitation, or the URL of the Drawbridge; - reads it from stdin',
    )
    .option(
      '--header-file <file>',
      'headers for a proxy on the way, each on a line like "name: value"',
    )
    .option('--state <folder>', STATE_HELP)
    .action(login);
  program
    .command('logout')
    .description('End the session of this machine at another Drawbridge server, and delete its key')
    .argument('[url]', 'the URL of the Drawbridge (default: the only one)')
    .option('--state <folder>', STATE_HELP)
    .action(logout);
}

/** Signs this machine in: `given` is a link, a URL, or `-`. */
export async function login(given: string, options: LoginOptions): Promise<void> {
  const headers = options.headerFile === undefined ? {} : readHeaders(options.headerFile);
  const { url, secret } = parseLink(given === '-' ? await readStdin() : given);
  const dir = await stateDirOf(options);
  const known = await findLogin(dir, url);
  if (known && (await isAlive(dir, known))) {
    const out = ownCommand('logout', url);
    throw new LocalError(
      'refused',
      `This machine is signed in at ${url} as ${shortLine(known.account)}: \`${out}\` first.`,
    );
  }
  await openServerState(dir); // Also makes the device that may approve.
  const signer = await newSessionKey(true);
  const holder = { name: hostname() || 'a machine', kind: 'machine' } as const;
  const server = { url, fetch: fetchWith(headers) };
  const ask = secret ?? (await showCode(server, holder, signer));
  const hasAnswered = secret === undefined;
  const made = await enterPatiently(server, ask, { holder, signer, hasAnswered });
  await keepLogin(dir, { url, ...made, headers, privateKey: await exported(signer) });
  openTerminal(process, process.env).write(
    `Signed in at ${url} as ${shortLine(made.account)}.\n` +
      `\`${ownCommand('--to', url)}\` connects the folder where you run it, and opens a chat.\n`,
  );
}

/** The server, and the secret of an invitation if the link has one. */
function parseLink(given: string): { readonly url: string; readonly secret: string | undefined } {
  const text = given.trim();
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new UsageError(
      'The link must begin with https:// or http://, such as https://agent.example.com.',
    );
  }
  const { hash } = new URL(text);
  if (hash === '') return { url: plainUrl(text), secret: undefined };
  const secret = /^#join=(dbi_[\w-]{43})$/.exec(hash)?.[1];
  if (secret === undefined) throw new UsageError('The link is incomplete: copy all of it.');
  return { url: plainUrl(text), secret };
}

/** @throws {UsageError} for a file that cannot be read, and for a line that is no header. */
function readHeaders(path: string): Record<string, string> {
  const lines = readText(path)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const headers = lines.map((line) => {
    const [, name = '', value = ''] =
      /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\x20-\x7e]+?)\s*$/.exec(line) ?? [];
    if (value !== '' && name.toLowerCase() !== 'authorization') return [name, value] as const;
    throw new UsageError(
      `The header file ${path} has a line that is no header, or the header of tokens.`,
    );
  });
  return Object.fromEntries(headers);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UsageError(`The header file ${path} cannot be read.`, { cause });
  }
}

async function readStdin(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin) {
    text += String(chunk);
    if (text.length > CLI_LIMITS.maxLinkChars) throw new UsageError('That is too long for a link.');
  }
  return text;
}

type LoginServer = Parameters<typeof enter>[0];
type LoginHolder = Parameters<typeof enter>[2];

/** Begins a login and shows how a person lets this machine in. Returns the secret that waits for them. */
async function showCode(
  server: LoginServer,
  holder: LoginHolder,
  signer: SessionSigner,
): Promise<string> {
  const { secret, code, expires } = await beginLogin(server, holder, signer);
  openTerminal(process, process.env).write(
    `Code         ${shortLine(code)}\n` +
      `Fingerprint  ${await fingerprintOf(signer)}\n` +
      `On a machine that is signed in there, run \`${ownCommand('sessions', 'approve', shortLine(code), '--url', server.url)}\`, and say yes\n` +
      `only if it shows this fingerprint. Waiting until ${shortLine(expires)}; Ctrl-C ends it.\n`,
  );
  return secret;
}

interface Entering {
  readonly holder: LoginHolder;
  readonly signer: SessionSigner;
  /** Whether the server has answered this login before: then it may come back. */
  readonly hasAnswered: boolean;
}

/** Until the person has decided, and across a connection that is lost on the way: the same key may ask again. */
async function enterPatiently(
  server: LoginServer,
  secret: string,
  { holder, signer, hasAnswered: wasThere }: Entering,
) {
  const signal = abortOnInterrupt();
  let hasAnswered = wasThere;
  for (let lost = 0; ; ) {
    try {
      return await enter(server, secret, holder, signer, signal);
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const isPending = error.code === 'LOGIN_PENDING';
      hasAnswered ||= isPending;
      const isLost = MAY_PASS.has(error.code) && (hasAnswered || mayHaveArrived(error));
      if (!isPending && !(isLost && ++lost <= CLI_LIMITS.maxLoginTries)) throw error;
      await sleep(SESSION_LIMITS.loginIntervalMs, undefined, { signal });
    }
  }
}

/** A server that is away or busy. */
const MAY_PASS: ReadonlySet<string> = new Set(['UNREACHABLE', 'UNAVAILABLE', 'RATE_LIMITED']);

/** False where no connection came about, as with a wrong name or a certificate that nothing vouches for. */
function mayHaveArrived({ cause, status }: ClientError): boolean {
  const { cause: reason = {} } = Object(cause) as { readonly cause?: object };
  const { code = 'UND_ERR', syscall } = Object(reason) as Partial<NodeJS.ErrnoException>;
  const isOnTheWay = code.startsWith('UND_ERR') && code !== 'UND_ERR_CONNECT_TIMEOUT';
  return status !== undefined || isOnTheWay || syscall === 'read' || syscall === 'write';
}

async function exported({
  privateKey,
  publicKey,
}: SessionSigner): Promise<KeptLogin['privateKey']> {
  const { d = '' } = await crypto.subtle.exportKey('jwk', privateKey);
  return { ...publicKey, d };
}

/** A server that cannot be reached has not ended the session. */
async function isAlive(dir: string, known: KeptLogin): Promise<boolean> {
  try {
    await (await signedInBy(dir, known)).token();
    return true;
  } catch (error) {
    return !(error instanceof LocalError);
  }
}

async function logout(given: string | undefined, options: StateOption): Promise<void> {
  const dir = await stateDirOf(options);
  const known = await chosen(dir, given);
  const { url, session } = known;
  const { write } = openTerminal(process, process.env);
  try {
    await createClient({ url, ...(await signedInBy(dir, known)) }).endSession(session);
    write(`Signed out at ${url}.\n`);
  } catch (error) {
    if (error instanceof LocalError) return write(`The session at ${url} had already ended.\n`);
    if (!(error instanceof ClientError)) throw error;
    write(
      `The key is deleted, but ${url} could not end the session (${inOneLine(error.message)}): end it from another device.\n`,
    );
  }
  await forgetLogin(dir, session);
}

async function chosen(dir: string, given: string | undefined): Promise<KeptLogin> {
  const all = await readLogins(dir);
  const [first, ...others] =
    given === undefined ? all : all.filter(({ url }) => url === parseLink(given).url);
  if (first && others.length === 0) return first;
  if (!first)
    throw new LocalError(
      'refused',
      `This machine is not signed in${given ? ' there' : ' anywhere'}.`,
    );
  throw new UsageError(
    `This machine is signed in at several servers: ${all.map(({ url }) => url).join(', ')}.`,
  );
}
