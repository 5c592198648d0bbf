/** `drawbridge` alone and `drawbridge start`: start or join the server in the background, and connect this folder. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Programs } from '../../local/server/worker.ts';
import { locateState } from '../../local/state/folder.ts';
import { plainUrl } from '../../local/state/logins.ts';
import { inOneLine, nameInLine } from '../../shared/text/plain-sight.ts';
import { type ChatOptions, modeOption, openChat } from '../chat/options.ts';
import { MOVE_HELP } from '../setup/connect/connect.ts';
import { canDraw, talk } from '../talk/talk.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
  locationWordsOf,
} from '../target/location-options.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { asTyped, ownCommand } from '../terminal/own-command.ts';
import type { Style } from '../terminal/paint.ts';
import { foldedAt } from '../terminal/short-line.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { type Joined, joinServer } from './join.ts';
import { NO_BROWSER, showFirstPage } from './page-link.ts';
import { PORT_HELP, parsePort } from './port.ts';
import { confinementText } from './ready.ts';
import { offerOtherOwner } from './root-folder.ts';

/** What every command takes that connects this folder. */
export interface FolderOptions extends LocationOptions {
  readonly port?: number;
  readonly move?: boolean;
  readonly to?: string;
}

export function registerHere(program: Command, programs: Programs): void {
  const here = program
    .command('here', { isDefault: true })
    .description('Connect this folder to the server in the background, and chat (the default)')
    .argument('[prompt...]', 'the first message; without -p the chat continues after the answer')
    .option('-p, --print', 'print the answer to the prompt, and exit', false)
    .option('--model <name>', 'the model that answers')
    .addOption(modeOption())
    .option('--continue', 'continue the last conversation of this folder')
    .addOption(
      new Option('--resume [id]', 'choose a conversation to continue, or name it').conflicts(
        'continue',
      ),
    );
  addServerOptions(here)
    .option(...TO)
    .action((words: string[], options: HereOptions) => chatHere(words, options, programs));
  const start = program
    .command('start')
    .description('Connect this folder to the server in the background, and start it if none runs');
  addServerOptions(start)
    .option(...TO)
    .option(...NO_BROWSER)
    .action((options: StartHereOptions) => startHere(options, programs));
}

const TO = [
  '--to <url>',
  'another Drawbridge server, where this machine is signed in',
  parseUrl,
] as const;

/** Adds the options that name the folder and its server. */
export function addServerOptions(command: Command): Command {
  command
    .option('--port <number>', PORT_HELP, parsePort)
    .option('--move', `${MOVE_HELP} (with --state)`);
  return addLocationOptions(command);
}

interface HereOptions extends FolderOptions, Pick<ChatOptions, 'model' | 'mode'> {
  readonly print: boolean;
  readonly continue?: boolean;
  /** True where the person chooses. */
  readonly resume?: true | string;
}

async function chatHere(words: string[], options: HereOptions, programs: Programs): Promise<void> {
  const terminal = openTerminal(process, process.env);
  const { print, model, mode, resume } = options;
  const isOnce = print || !terminal.isInteractive;
  if (isOnce && words.length === 0) {
    const [prompt, start] = [ownCommand('-p', 'PROMPT'), ownCommand('start')];
    throw new UsageError(
      `There is no prompt and no terminal to chat at: give one with \`${prompt}\`, or start the server alone with \`${start}\`.`,
    );
  }
  if (resume === true && !canDraw(terminal, process.env)) {
    throw new UsageError(
      '--resume without an id lets you choose on a screen: name the conversation.',
    );
  }
  // From here on what is typed waits for the prompt, and answers no question that comes before it.
  using _ = isOnce ? undefined : terminal.listen();
  const joined = await joinHere(options, programs, terminal);
  // A browser's window would take the keys of a person who is about to type here.
  if (!isOnce) sayWayToPage(options, terminal);
  const { workspaceDir } = joined.place;
  const chat = await openChat(
    {
      workspace: workspaceDir,
      reasoning: false,
      json: false,
      ...(options.state && { state: options.state }),
      ...(model !== undefined && { model }),
      ...(mode !== undefined && { mode }),
      ...(typeof resume === 'string' && { conversation: resume }),
      continue: options.continue === true,
    },
    terminal,
  );
  // Commands that are suggested find the folder as this one did.
  const targetWords = locationWordsOf(options);
  const here = { ...chat, targetWords };
  process.exitCode = await talk(here, { words, isOnce, picks: resume === true });
  if (isOnce || !joined.hasStarted) return;
  const stop = ownCommand('stop', ...targetWords);
  terminal.write(`${terminal.paint('dim', `The server runs on. To end it: ${stop}`)}\n`);
}

interface StartHereOptions extends FolderOptions {
  readonly browser: boolean;
}

async function startHere(
  { browser, ...options }: StartHereOptions,
  programs: Programs,
): Promise<void> {
  const terminal = openTerminal(process, process.env);
  const joined = await joinHere(options, programs, terminal);
  sayWayToPage(options, terminal);
  terminal.write(`Connected to ${joined.url}: ${nameInLine(joined.place.workspaceDir)}\n`);
  if (browser) await showFirstPage(joined, terminal, abortOnInterrupt());
}

/** Not the link, which signs in who opens it: a screen has more readers than the person who asks for one. */
function sayWayToPage(options: LocationOptions, { write, paint }: Terminal): void {
  write(`${paint('dim', `Page: ${ownCommand('open', ...locationWordsOf(options))}`)}\n`);
}

/** Connects this folder, and says with which model and sandbox. A folder below a known project means that project. */
export async function joinHere(
  options: FolderOptions,
  programs: Programs,
  terminal: Terminal,
): Promise<Joined> {
  const location = await findLocation(options, 'kept');
  const { port, move: moves, to } = options;
  const knowsWhy = await offerOtherOwner(await locateState(location), terminal);
  const joined = await joinServer({ location, programs, terminal, port, moves, to });
  const { model, notices } = joined;
  const confinement = knowsWhy ? { ...joined.confinement, detail: '' } : joined.confinement;
  const write = (style: Style, text: string) =>
    terminal.write(`${terminal.paint(style, foldedAt(text, terminal.columns))}\n`);
  for (const notice of notices) write('yellow', asTyped(notice));
  const about = [
    ...(model === null ? [] : [`Model: ${inOneLine(model)}`]),
    // The details are for `drawbridge status`.
    confinement?.kind === 'bubblewrap'
      ? 'Commands run in a sandbox.'
      : `Commands ${inOneLine(confinementText(confinement)).trimEnd()}`,
  ];
  for (const line of about) write('dim', line);
  return joined;
}

/** The value of an option that names a server. */
export function parseUrl(text: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return plainUrl(text);
  throw new InvalidArgumentError('It must begin with https:// or http://.');
}
