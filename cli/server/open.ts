/** `drawbridge open`: the web page of a server in the person's browser, signed in. */
import type { Command } from 'commander';
import type { Programs } from '../../local/server/worker.ts';
import { readRemote } from '../../local/state/logins.ts';
import { readBridgeId } from '../../local/state/state.ts';
import { openEnrolment } from '../../machine/enrolments.ts';
import { LocalError } from '../../machine/local-error.ts';
import { stateDirOf } from '../target/location-options.ts';
import { findSignedIn, notSignedIn } from '../target/signed-in.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { showQr } from '../terminal/qr.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { addServerOptions, type FolderOptions, joinHere, parseUrl } from './here.ts';
import { linkTo, ownPage, type PageLink, showPage } from './page-link.ts';

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
      'open only the page of this server, where this machine is signed in; connect no folder',
      parseUrl,
    )
    .option(
      '--passkey',
      'let the page of the connected server approve with a passkey, for example on a phone',
    )
    .option('--no-browser', 'print the link instead of opening the browser');
  addServerOptions(open).action((options: OpenOptions) => openPage(options, programs));
}

async function openPage(options: OpenOptions, programs: Programs): Promise<void> {
  const terminal = openTerminal(process, process.env);
  const page = await findPage(options, programs, terminal);
  const isForPhone = options.passkey === true;
  terminal.write(`${page.about}\n`);
  if (options.browser && !isForPhone && (await showPage(page, terminal, abortOnInterrupt())))
    return;
  terminal.writeOut(`${page.link}\n`);
  if (!isForPhone) return;
  showQr(terminal, page.link);
  if (options.browser) await showPage(page, terminal, abortOnInterrupt());
}

type Where = Pick<PageLink, 'stateDir' | 'workspaceDir'>;

async function findPage(
  options: OpenOptions,
  programs: Programs,
  terminal: Terminal,
): Promise<PageLink> {
  const { to, passkey, ...here } = options;
  if (to !== undefined) {
    if (passkey) throw new UsageError('--passkey is for the server of this folder, without --to.');
    return await foreignPage(to, {
      stateDir: await stateDirOf(options),
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
async function passkeyPage(url: string, where: Where, projectDir: string): Promise<PageLink> {
  const { origin, protocol, hostname } = new URL(url);
  const hasName = !/^[\d.]+$|^\[/.test(hostname);
  if (!hasName || (protocol !== 'https:' && hostname !== 'localhost')) {
    const needed = `Passkeys need an address with https and a host name, not ${origin}.`;
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
time. Its page comes from another server, whose operator decides what it shows and which passkey it makes.`;

/** The page of a server elsewhere. That server decides what the page does, so it may not approve. */
async function foreignPage(url: string, where: Where): Promise<PageLink> {
  const session = await findSignedIn(url, { state: where.stateDir });
  if (!session) throw new LocalError('refused', notSignedIn(url));
  const link = await linkTo({ url, ...session });
  const about =
    'The link signs one browser in, once. Its page comes from another server, so it may not approve calls.';
  return { ...where, link, about };
}
