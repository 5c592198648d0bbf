/** `drawbridge open`: the web page of a server in the person's browser, signed in. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { type ClientOptions, createClient } from '../../client/index.ts';
import type { Programs } from '../../local/server/worker.ts';
import { plainUrl, readRemote } from '../../local/state/logins.ts';
import {
  openProjectState,
  openServerState,
  readBridgeId,
  readUserToken,
} from '../../local/state/state.ts';
import { isEnrolmentOpen, openEnrolment } from '../../machine/enrolments.ts';
import { LocalError } from '../../machine/local-error.ts';
import { replaceFile } from '../../machine/private-files.ts';
import { CLI_LIMITS } from '../limits.ts';
import { findSignedIn, loginsDir, notSignedIn } from '../target/signed-in.ts';
import { hasDisplay, openInBrowser } from '../terminal/browser.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { showQr } from '../terminal/qr.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { addServerOptions, type FolderOptions, joinHere, parseUrl } from './here.ts';
import type { Joined } from './join.ts';

interface OpenOptions extends FolderOptions {
  readonly browser: boolean;
  readonly passkey?: true;
}

export function registerOpen(program: Command, programs: Programs): void {
  const open = program
    .command('open')
    .description('Open the web page of the server, signed in; connects this folder like "start"')
    .option(
      '--to <url>',
      'only the page of a Drawbridge elsewhere, where this machine is signed in; connects nothing',
      parseUrl,
    )
    .option(
      '--passkey',
      'let the page of the server that this folder is connected to approve by a passkey, also on a phone',
    )
    .option('--no-browser', 'only print the link');
  addServerOptions(open).action((options: OpenOptions) => openPage(options, programs));
}

async function openPage(options: OpenOptions, programs: Programs): Promise<void> {
  const terminal = openTerminal(process, process.env);
  const page = await findPage(options, programs, terminal);
  terminal.write(`${page.about}\n`);
  terminal.writeOut(`${page.link}\n`);
  if (options.passkey) showQr(terminal, page.link);
  if (!options.browser || terminal.isPiped || !hasDisplay(process.env)) return;
  await showPage(page, terminal);
}

interface Page {
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

type Where = Pick<Page, 'stateDir' | 'workspaceDir'>;

async function findPage(
  options: OpenOptions,
  programs: Programs,
  terminal: Terminal,
): Promise<Page> {
  const { to, passkey, ...here } = options;
  if (to !== undefined) {
    if (passkey) throw new UsageError('--passkey is for the server of this folder, without --to.');
    return await foreignPage(to, {
      stateDir: await loginsDir(options),
      workspaceDir: process.cwd(),
    });
  }
  const joined = await joinHere(here, programs, terminal);
  const { serverDir: stateDir, projectDir, workspaceDir } = joined.place;
  const remote = await readRemote(projectDir);
  if (remote === undefined) {
    if (passkey) throw new UsageError(OWN_PAGE);
    return await ownPage(joined);
  }
  const where = { stateDir, workspaceDir };
  if (!passkey) return await foreignPage(remote, where);
  return await passkeyPage(remote, where, projectDir);
}

const OWN_PAGE =
  'This folder is connected to a server of this machine, whose page approves without a passkey: run it without --passkey, or `drawbridge enrol` for a phone.';

/** The page of a server elsewhere, which may approve one call each time that its person touches a passkey. */
async function passkeyPage(url: string, where: Where, projectDir: string): Promise<Page> {
  const { origin, protocol, hostname } = new URL(url);
  const hasName = !/^[\d.]+$|^\[/.test(hostname);
  if (!hasName || (protocol !== 'https:' && hostname !== 'localhost')) {
    const needed = `Passkeys need an address with https and a name, and not ${origin}.`;
    throw new LocalError('refused', needed);
  }
  const bridgeId = await readBridgeId(projectDir);
  if (!bridgeId) throw new LocalError('failed', 'This folder has no bridge yet: try again.');
  const page = await foreignPage(url, where);
  const { secret: enrolment } = await openEnrolment(where.stateDir, 'open', new Date(), origin);
  const link = `${page.link}&passkey=${bridgeId}.${enrolment}`;
  return { ...page, link, enrolment, about: PASSKEY_ABOUT };
}

const PASSKEY_ABOUT = `This link signs one browser in, once, and lets it make a passkey with which its person approves calls, one at a
time. Its page comes from a server elsewhere: who runs that server decides what it shows, and which passkey it makes.`;

/** The page of this machine's own server. It comes from this machine, so it may approve. */
async function ownPage({ url, place }: Joined): Promise<Page> {
  const { serverDir: stateDir, projectDir, workspaceDir } = place;
  const server = await openServerState(stateDir);
  const { bridgeId } = await openProjectState(server, projectDir);
  const signedIn = await linkTo({ url, token: await readUserToken(server, new Date()) });
  const { secret: enrolment } = await openEnrolment(stateDir, 'open', new Date());
  const link = `${signedIn}&enrol=${bridgeId}.${enrolment}`;
  const about = 'This link signs one browser in, once, and lets its page approve calls:';
  return { link, about, stateDir, workspaceDir, enrolment };
}

/** The page of a server elsewhere. That server decides what the page does, so it may not approve. */
async function foreignPage(url: string, where: Where): Promise<Page> {
  const session = await findSignedIn(url, { state: where.stateDir });
  if (!session) throw new LocalError('refused', notSignedIn(url));
  const link = await linkTo({ url, ...session });
  const about =
    'This link signs one browser in, once. Its page comes from a server elsewhere, so it may not approve calls:';
  return { ...where, link, about };
}

/** A new invitation into the caller's own account. */
async function linkTo(endpoint: ClientOptions): Promise<string> {
  const { secret } = await createClient(endpoint).createInvitation();
  if (/^dbi_[\w-]{43}$/.test(secret)) return `${plainUrl(endpoint.url)}/#join=${secret}`;
  throw new LocalError(
    'failed',
    `What answers at ${endpoint.url} is no Drawbridge of this version.`,
  );
}

/** Opens the browser by a file that only its owner can read: other users see the words of a command. */
async function showPage(
  { link, stateDir, workspaceDir, enrolment }: Page,
  terminal: Terminal,
): Promise<void> {
  const signal = abortOnInterrupt();
  const file = join(stateDir, `open-${randomUUID()}.html`);
  replaceFile(file, redirectTo(link));
  try {
    if (!openInBrowser(file, workspaceDir)) return;
    terminal.write('Opening the browser. If it does not come, open the link yourself.\n');
    const untilMs = performance.now() + CLI_LIMITS.pageFileMs;
    while (!signal.aborted && performance.now() < untilMs) {
      if (enrolment && !(await isEnrolmentOpen(stateDir, enrolment, new Date()))) return;
      await sleep(CLI_LIMITS.pageLookMs);
    }
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
