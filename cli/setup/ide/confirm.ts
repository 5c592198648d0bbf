/** `drawbridge ide confirm`: lets answers in the editor count, after the person at the terminal said so. */

import { openState } from '../../../local/state/state.ts';
import { resolveWorkspace } from '../../../local/state/workspace.ts';
import { LocalError } from '../../../machine/local-error.ts';
import type { Candidate } from '../../../packages/editors/index.ts';
import { nameInLine } from '../../../shared/text/plain-sight.ts';
import {
  findLocation,
  type LocationOptions,
  locationWordsOf,
} from '../../target/location-options.ts';
import { askFirst } from '../../terminal/confirm.ts';
import { ownCommand } from '../../terminal/own-command.ts';
import { openTerminal } from '../../terminal/terminal.ts';

export interface ConfirmOptions extends LocationOptions {
  /** Of the companion to confirm; without it the first one that answers. */
  readonly port?: number;
}

/** Asks always: only a person sees which editor it is. */
export async function confirmEditor(options: ConfirmOptions): Promise<void> {
  const { confirmCompanion, isConfirmed } = await import('../../../packages/editors/index.ts');
  const location = await findLocation(options, 'kept');
  const { projectDir: stateDir } = await openState(location);
  const companion = await findCompanion(await resolveWorkspace(location.workspaceDir), options);
  const terminal = openTerminal(process, process.env);
  const what = describe(companion);
  if (companion.token === undefined) throw new LocalError('refused', `${what} ${NO_TOKEN}`);
  if (await isConfirmed(stateDir, companion))
    return terminal.write(`${what} is confirmed already.\n`);
  terminal.write(`${what}, announced by ${nameInLine(companion.source)}\n${CONSEQUENCE}\n`);
  await askFirst(terminal, 'Is this your editor?', {
    unasked: 'run this command in a terminal of your own.',
    otherwise: 'Nothing was confirmed.',
  });
  await confirmCompanion(stateDir, companion);
  terminal.write('Confirmed, until the editor is started again.\n');
}

/** Opens no session, because that of a running bridge could lose its answers. */
async function findCompanion(workspace: string, options: ConfirmOptions): Promise<Candidate> {
  const { port } = options;
  const { discover, hostsFor, placeHere, probe } = await import(
    '../../../packages/editors/index.ts'
  );
  // Never aborted: a signal ends the process, and each wait has a bound.
  const { signal } = new AbortController();
  const place = await placeHere(workspace, process.env, signal);
  const { ranked } = await discover(place, signal);
  const hosts = await hostsFor(place, signal);
  for (const candidate of ranked) {
    if (port !== undefined && candidate.port !== port) continue;
    const { state } = await probe(candidate, { hosts, isGentle: true, signal });
    if (state !== 'failed') return candidate;
  }
  const which =
    port === undefined ? 'No editor answers' : `No editor of this folder answers at ${port}`;
  const status = ownCommand('ide', ...locationWordsOf(options));
  throw new LocalError('refused', `${which}: ${status} says why.`);
}

function describe({ ide, family, port, pid }: Candidate): string {
  const name = nameInLine(ide?.displayName ?? `The editor with the ${family} companion`);
  return `${name}, ${pid === undefined ? 'process unknown' : `process ${pid}`}, port ${port}`;
}

const NO_TOKEN =
  'has no token, so another program could pass for it: update its companion extension.';
const CONSEQUENCE =
  'It will show edits that wait for your approval, and an answer there counts as yours.';
