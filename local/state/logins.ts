/** The Drawbridges elsewhere that this machine is signed in to: a session at each, with its key. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import { takeTurn } from '../../machine/lock.ts';
import { replaceFile } from '../../machine/private-files.ts';
import { readStateFile } from '../../machine/state-file.ts';
import { SessionKey } from '../../shared/api/sessions.ts';
import { SessionId } from '../../shared/ids.ts';
import { SESSION_LIMITS } from '../../shared/limits.ts';

/** A session of this machine. `url` is in the form of {@link plainUrl}. */
export const KeptLogin = z.object({
  url: z.string(),
  account: z.string().min(1).max(SESSION_LIMITS.maxAccountChars),
  session: SessionId,
  /** Headers that a proxy on the way wants with each request, such as those of Cloudflare Access. */
  headers: z.record(z.string(), z.string()).optional(),
  /** A JWK that WebCrypto imports. This session alone has it, so that its end touches nothing else. */
  privateKey: SessionKey.extend({ d: z.base64url() }),
});
export type KeptLogin = z.infer<typeof KeptLogin>;

const KeptLogins = z.object({ logins: z.array(KeptLogin) });
const FILE = 'logins.json';

/** One spelling for each server: without a slash at the end, a query and a fragment. */
export function plainUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** Where this machine is signed in. @throws {LocalError} for a damaged file. */
export async function readLogins(stateDir: string): Promise<readonly KeptLogin[]> {
  return (await readStateFile(join(stateDir, FILE), KeptLogins))?.logins ?? [];
}

/** The session at this server; undefined if there is none. */
export async function findLogin(stateDir: string, url: string): Promise<KeptLogin | undefined> {
  const wanted = plainUrl(url);
  return (await readLogins(stateDir)).find((login) => login.url === wanted);
}

/** Keeps a session in place of an older one. @throws {LocalError} for what no Drawbridge answers. */
export async function keepLogin(stateDir: string, login: KeptLogin): Promise<void> {
  if (!KeptLogin.safeParse(login).success) {
    const text = `The server at ${login.url} has answered with no session: check that it is a Drawbridge of this version.`;
    throw new LocalError('failed', text);
  }
  await change(stateDir, (logins) => [...logins.filter(({ url }) => url !== login.url), login]);
}

/** Forgets a session with its key. Changes nothing if another one has taken its place. */
export async function forgetLogin(stateDir: string, session: string): Promise<void> {
  await change(stateDir, (logins) => logins.filter((login) => login.session !== session));
}

/** The Drawbridge elsewhere that a folder is connected to: commands in the folder talk to it. */
const Remote = z.object({ url: z.string() });
const REMOTE_FILE = 'remote.json';

/** Undefined for a folder of this machine's own server. @throws {LocalError} for a damaged file. */
export async function readRemote(projectDir: string): Promise<string | undefined> {
  return (await readStateFile(join(projectDir, REMOTE_FILE), Remote))?.url;
}

/** Undefined: the folder is connected to this machine's own server. */
export function noteRemote(projectDir: string, url: string | undefined): void {
  const path = join(projectDir, REMOTE_FILE);
  if (url === undefined) rmSync(path, { force: true });
  else replaceFile(path, JSON.stringify({ url: plainUrl(url) }));
}

async function change(
  stateDir: string,
  changed: (logins: readonly KeptLogin[]) => KeptLogin[],
): Promise<void> {
  // Waits for other commands: an invitation that is used already would be lost.
  using _ = await takeTurn(join(stateDir, 'logins.lock'), BUSY);
  const logins = changed(await readLogins(stateDir));
  replaceFile(join(stateDir, FILE), JSON.stringify({ logins }));
}

const BUSY = 'Another command signs in or out: wait for its end, and try again.';
