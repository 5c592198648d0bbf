/** `drawbridge conversations`: lists conversations, and holds the commands that change one. */
import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { type Client, createClient } from '../../client/index.ts';
import type { ConversationInfo } from '../../shared/api/conversations.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { headerLine, type ListedRow, listLine } from '../render/table.ts';
import { entriesOf } from '../target/pages.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target/target.ts';
import { jsonLine, openTerminal, type Terminal } from '../terminal/terminal.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { registerChanges, registerDelete } from './changes.ts';

interface ConversationListOptions extends TargetOptions {
  readonly search?: string;
  readonly archived: boolean;
  readonly limit: number;
  readonly all?: boolean;
  readonly json: boolean;
}

/** Adds the command, which lists if no subcommand is given. */
export function registerConversations(program: Command): void {
  const group = program
    .command('conversations')
    .description('List the conversations of your account, or change one')
    .addHelpText(
      'after',
      `\nWithout a command, it lists the conversations; "list --help" shows the options.`,
    );
  const list = group
    .command('list', { isDefault: true })
    .description('List conversations, the most recently answered first')
    .option('--search <text>', 'only those with all of these words in their title or text')
    .option('--archived', 'list the archived conversations instead', false)
    .option(
      '--limit <number>',
      'list at most this many',
      wholeNumber(1, 999_999_999),
      REQUEST_LIMITS.pageSize,
    )
    .addOption(new Option('--all', 'list all of them').conflicts('limit'))
    .option('--json', 'print each conversation as a line of JSON', false);
  addTargetOptions(list).action(async (options: ConversationListOptions) => {
    const client = createClient(await findTarget(options));
    const terminal = openTerminal(process, process.env, { machine: options.json });
    await listConversations(client, terminal, options);
  });
  registerChanges(group);
  registerDelete(group);
}

/** Prints page by page: the first conversations appear before the last ones are requested. */
async function listConversations(
  client: Client,
  terminal: Terminal,
  options: ConversationListOptions,
): Promise<void> {
  const { columns, paint } = terminal;
  const folders = columns === undefined || options.json ? undefined : await foldersOf(client);
  let isEmpty = true;
  for await (const info of conversations(client, options)) {
    if (isEmpty && folders && columns) terminal.writeOut(headerLine(columns, paint));
    isEmpty = false;
    if (options.json) terminal.writeOut(jsonLine(info));
    else if (folders && columns) terminal.writeOut(listLine(rowOf(info, folders), columns));
    else terminal.writeOut(pipedLine(info));
  }
  if (isEmpty && !options.json) terminal.write('No conversations found.\n');
}

/** Whole, with UTC time. */
function pipedLine({ id, updated, title }: ConversationInfo): string {
  return `${[id, updated, printableLine(title, REQUEST_LIMITS.maxNameChars)].join('\t')}\n`;
}

function rowOf(info: ConversationInfo, folders: ReadonlyMap<string, string>): ListedRow {
  const { id, updated, title, waiting, running, bridgeId } = info;
  const waits = waiting.approvals + waiting.questions > 0;
  const state = waits ? 'waits for you' : running ? 'running' : '';
  return { id, updated, title, state, folder: folders.get(bridgeId ?? '') ?? '' };
}

async function* conversations(
  client: Client,
  { search, archived, all, limit }: ConversationListOptions,
): AsyncGenerator<ConversationInfo, void, undefined> {
  let left = all ? Number.POSITIVE_INFINITY : limit;
  const readPage = (cursor: string | undefined) => {
    const limit = Math.min(left, REQUEST_LIMITS.maxPageSize);
    return client.listConversations({ search, archived, limit, cursor });
  };
  for await (const info of entriesOf(readPage)) {
    yield info;
    if (--left === 0) return;
  }
}

/** The folders of bridges, by the bridge's id. Empty where the list cannot be read: names are a help, and no reason to fail. */
async function foldersOf(
  client: Pick<Client, 'listBridges'>,
): Promise<ReadonlyMap<string, string>> {
  try {
    const { items } = await client.listBridges();
    return new Map(items.map(({ id, workspacePath }) => [id, basename(workspacePath)]));
  } catch {
    return new Map();
  }
}
