/** Links that sign a browser in at the page of a server, once each, and the browser that opens them. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientOptions, createClient } from '../../client/index.ts';
import { plainUrl, readRemote } from '../../local/state/logins.ts';
import { openProjectState, openServerState, readUserToken } from '../../local/state/state.ts';
import { hadEnrolment, isEnrolmentOpen, openEnrolment } from '../../machine/enrolments.ts';
import { LocalError } from '../../machine/local-error.ts';
import { replaceFile } from '../../machine/private-files.ts';
import { CLI_LIMITS } from '../limits.ts';
import { hasDisplay, openInBrowser } from '../terminal/browser.ts';
import { ownCommand } from '../terminal/own-command.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Joined } from './join.ts';

/** The option of commands that open the browser. */
export const NO_BROWSER = ['--no-browser', 'open no browser'] as const;

/** A link, and what goes with it. */
export interface PageLink {
  /** Signs in who opens it, once. */
  readonly link: string;
  /** What the link gives, for the person. */
  readonly about: string;
  /** The state folder of the server, or of the login there. */
  readonly stateDir: string;
  /** Programs in this folder open no browser. */
  readonly workspaceDir: string;
  /** The secret in the link with which the page may approve. */
  readonly enrolment?: string;
}

/** A server of this machine, with a folder that is connected to it. */
type ServedHere = Pick<Joined, 'url' | 'place'>;

/**
 * Opens the page in the first browser of a server's state. Nothing happens once there was a link, at a server elsewhere,
 * and where no browser shows up in front of the person. A page that cannot be opened must not end the start.
 */
export async function showFirstPage(
  served: ServedHere,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { serverDir, projectDir } = served.place;
  if (terminal.isPiped || process.env['CI'] || !hasDisplay(process.env)) return;
  if (hadEnrolment(serverDir) || (await readRemote(projectDir)) !== undefined) return;
  const page = await ownPage(served).catch(() => undefined);
  if (page) await showPage(page, terminal, signal).catch(() => {});
}

/** A new link to the page of this machine's own server. The page comes from this machine, so it may approve. */
export async function ownPage({ url, place }: ServedHere): Promise<PageLink> {
  const { serverDir: stateDir, projectDir, workspaceDir } = place;
  const server = await openServerState(stateDir);
  const { bridgeId } = await openProjectState(server, projectDir);
  const signedIn = await linkTo({ url, token: await readUserToken(server, new Date()) });
  const { secret: enrolment } = await openEnrolment(stateDir, 'open', new Date());
  const link = `${signedIn}&enrol=${bridgeId}.${enrolment}`;
  const about = 'The link signs one browser in, once, and lets its page approve calls.';
  return { link, about, stateDir, workspaceDir, enrolment };
}

/** A link with a new invitation into the caller's own account. `url` is where the person's browser reaches the server. */
export async function linkTo(endpoint: ClientOptions, url = endpoint.url): Promise<string> {
  const { secret } = await createClient(endpoint).createInvitation();
  if (/^dbi_[\w-]{43}$/.test(secret)) return `${plainUrl(url)}/#join=${secret}`;
  throw new LocalError(
    'failed',
    `The server at ${endpoint.url} is not a Drawbridge of this version.`,
  );
}

/**
 * Opens the browser where the person sees it, by a file that only its owner can read: other users see the words of a
 * command. Resolves to false where there is none, else to true when the page is in, after a minute, or when the signal
 * aborts.
 */
export async function showPage(
  { link, stateDir, workspaceDir, enrolment }: PageLink,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<boolean> {
  if (terminal.isPiped || !hasDisplay(process.env)) return false;
  const file = join(stateDir, `open-${randomUUID()}.html`);
  replaceFile(file, redirectTo(link));
  try {
    if (!openInBrowser(file, workspaceDir)) return false;
    const link = ownCommand('open', '--no-browser');
    terminal.write(`Opening the page. If no browser opens, print the link: ${link}\n`);
    const untilMs = performance.now() + CLI_LIMITS.pageFileMs;
    while (!signal.aborted && performance.now() < untilMs) {
      if (enrolment && !(await isEnrolmentOpen(stateDir, enrolment, new Date()))) break;
      await sleep(CLI_LIMITS.pageLookMs);
    }
    return true;
  } finally {
    rmSync(file, { force: true });
  }
}

function redirectTo(link: string): string {
  const url = link.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${url}">
<title>Drawbridge</title>
<a href="${url}">Open Drawbridge</a>
`;
}
