/** `drawbridge agents`: starts agents that work in the background, and follows, instructs, stops and merges them. */

import { type Command, Option } from 'commander';
import { type AgentInput, type Client, createClient } from '../../client/index.ts';
import type { AgentInfo } from '../../shared/api/agents.ts';
import { AgentStatus } from '../../shared/api/conversations.ts';
import { BUDGET_LIMITS, REQUEST_LIMITS } from '../../shared/limits.ts';
import { readMessage } from '../chat/message.ts';
import { deleteAfterOption, openChat } from '../chat/options.ts';
import { EXIT_CODES } from '../chat/run-chat.ts';
import { joinTurn } from '../chat/turn.ts';
import { headerLine, type ListedRow, listLine } from '../render/table.ts';
import { bridgeForNew } from '../target/own-bridge.ts';
import { entriesOf } from '../target/pages.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target/target.ts';
import { parseConversationId } from '../target/typed-ids.ts';
import { askFirst } from '../terminal/confirm.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { printOut } from '../terminal/print.ts';
import { jsonLine, openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { diffText, merge, NOTHING_TO_MERGE, previewMerge } from './apply.ts';
import { agentLine, agentText } from './shown.ts';
import { branchesBelow } from './tree.ts';

/** The options of every command as commander parses them. */
interface Options extends TargetOptions {
  readonly json: boolean;
}

interface CreateOptions
  extends Options,
    Pick<AgentInput, 'title' | 'model' | 'mode' | 'branch' | 'base' | 'commit'> {
  readonly bridge?: string;
  readonly inPlace?: boolean;
  readonly webhook?: string;
  readonly maxTurns?: number;
  readonly deleteAfter?: number;
}

export function registerAgents(program: Command): void {
  const group = program
    .command('agents')
    .description('Agents that work in the background, in a branch of their own');
  registerCreate(group);
  registerList(group);
  const show = group.command('show <id>').description('Show an agent and its changes');
  addOptions(show).action(async (id: string, options: Options) => {
    const agent = await clientOf(options).then((client) =>
      client.getAgent(parseConversationId(id)),
    );
    print(options, agent, agentText(agent));
  });
  const follow = group
    .command('follow <id>')
    .description('Follow an agent or a subagent, and answer its questions');
  addOptions(follow).action(async (id: string, options: Options) => {
    const terminal = openTerminal(process, process.env, { machine: options.json });
    const opened = {
      ...options,
      mode: 'agent',
      reasoning: false,
      conversation: parseConversationId(id),
    };
    const chat = await openChat(opened, terminal);
    process.exitCode = EXIT_CODES[await joinTurn(chat, await newestOf(chat.client, id))];
  });
  const followUp = group
    .command('followup <id> [prompt...]')
    .description('Send an agent another prompt');
  addOptions(followUp).action(async (id: string, words: string[], options: Options) => {
    const prompt = await promptOf(words, options);
    const client = await clientOf(options);
    const agent = await client.followUpAgent(parseConversationId(id), { prompt });
    print(options, agent, agentLine(agent));
  });
  registerApply(group);
  for (const change of ['stop', 'archive', 'unarchive'] as const) {
    const command = group.command(`${change} <id>`).description(CHANGES[change]);
    addOptions(command).action(async (id: string, options: Options) => {
      const client = await clientOf(options);
      const agent = await client.changeAgent(parseConversationId(id), change);
      print(options, agent, agentLine(agent));
    });
  }
}

/** The newest response of an agent. A subagent is no agent to the server. */
async function newestOf(client: Client, id: string): Promise<string> {
  const { responses } = await client.getConversation(id, { limit: 1 });
  return responses.at(-1)?.id ?? (await client.getAgent(id)).responseId;
}

const CHANGES = {
  stop: "Cancel an agent's current work",
  archive: 'Stop and archive an agent; its worktree is removed if everything is committed',
  unarchive: 'Restore an archived agent',
} as const;

function registerApply(group: Command): void {
  const apply = group
    .command('apply <id>')
    .description("Merge an agent's commit into the current branch of this folder, after a preview")
    .option('--yes', 'do not ask', false);
  addOptions(apply).action(async (id: string, options: Options & { yes: boolean }) => {
    const terminal = openTerminal(process, process.env, { machine: options.json });
    const client = await clientOf(options);
    const agent = await client.getAgent(parseConversationId(id));
    const preview = await previewMerge(agent, process.cwd());
    if (preview.diff === '') return terminal.write(`${NOTHING_TO_MERGE}\n`);
    terminal.write(`${diffText(preview)}\n`);
    const asked = { unasked: 'add --yes', otherwise: 'Nothing was merged.' };
    if (!options.yes) await askFirst(terminal, `Merge ${preview.branch}?`, asked);
    const said = await merge(preview);
    print(options, { id, branch: preview.branch, commit: preview.commit }, `${said}\n`);
  });
}

function registerCreate(group: Command): void {
  const create = group
    .command('create [prompt...]')
    .description('Start an agent; text from stdin is added below the prompt')
    .option('--title <title>', 'its name (default: the first line of the prompt)')
    .option('--model <name>', 'the model')
    .option('--mode <mode>', 'how it works: agent, plan, ask, debug, or a mode of the workspace')
    .option('--bridge <id>', 'where it works (default: this folder)')
    .addOption(
      new Option('--in-place', 'work in the folder itself, without a branch').conflicts([
        'branch',
        'base',
        'commit',
      ]),
    )
    .option(
      '--max-turns <n>',
      'the most requests to the model for each answer',
      wholeNumber(1, BUDGET_LIMITS.maxTurns),
    )
    .addOption(deleteAfterOption())
    .option('--branch <name>', 'the branch to make')
    .option('--base <revision>', 'where the branch begins (default: HEAD)')
    .option('--commit', 'end with a commit')
    .option('--webhook <url>', 'call this URL at each change of its status');
  addOptions(create).action(async (words: string[], options: CreateOptions) => {
    const { title, model, mode, branch, base, commit, bridge, inPlace, webhook, maxTurns } =
      options;
    const { deleteAfter: deleteAfterHours } = options;
    const target = await findTarget(options);
    const client = createClient(target);
    const bridgeId = bridge ?? (await bridgeForNew(client, target));
    const budget = maxTurns === undefined ? undefined : { maxTurns };
    const named = { title, model, mode, branch, base, commit };
    const wanted = { ...named, bridgeId, budget, deleteAfterHours };
    const set = Object.entries(wanted).filter(([, value]) => value !== undefined);
    const request: AgentInput = {
      ...(Object.fromEntries(set) as Partial<AgentInput>),
      prompt: await promptOf(words, options),
      ...(inPlace && { workspace: 'in_place' }),
      ...(webhook !== undefined && { webhook: { url: webhook } }),
    };
    const agent = await client.createAgent(request);
    print(options, agent, agentText(agent));
    const { write } = openTerminal(process, process.env, { machine: options.json });
    write(`Follow it: ${ownCommand('agents', 'follow', agent.id)}\n`);
  });
}

function registerList(group: Command): void {
  const list = group
    .command('list', { isDefault: true })
    .description('List agents, the most recently answered first')
    .addOption(
      new Option('--status <status>', 'only agents with this status').choices(AgentStatus.options),
    );
  addOptions(list).action(async (options: Options & { status?: AgentStatus }) => {
    const client = await clientOf(options);
    const { status } = options;
    const limit = REQUEST_LIMITS.maxPageSize;
    const { write, writeOut, columns, paint } = openTerminal(process, process.env, {
      machine: options.json,
    });
    let isAny = false;
    const agents = entriesOf((cursor) => client.listAgents({ limit, status, cursor }));
    for await (const agent of agents) {
      if (!isAny && columns !== undefined) writeOut(headerLine(columns, paint));
      isAny = true;
      if (columns === undefined) print(options, agent, agentLine(agent));
      else await writeTree(client, agent, (row) => writeOut(listLine(row, columns)));
    }
    if (!isAny && !options.json)
      write(status ? `No agent is ${status}.\n` : 'There is no agent.\n');
  });
}

/** The agent, and below it what works for it now. */
async function writeTree(
  client: Client,
  { id, title, status, updated }: AgentInfo,
  write: (row: ListedRow) => void,
): Promise<void> {
  const rest = { updated, folder: '' };
  write({ id, title, state: status, ...rest });
  if (status !== 'running' && status !== 'waiting') return;
  for (const branch of await branchesBelow(client, id)) {
    write({ id: branch.id, title: branch.title, state: branch.status, ...rest });
  }
}

function addOptions(command: Command): Command {
  command.option('--json', 'print JSON', false);
  return addTargetOptions(command);
}

async function clientOf(options: Options): Promise<Client> {
  return createClient(await findTarget(options));
}

async function promptOf(words: readonly string[], { json }: Options): Promise<string> {
  const terminal = openTerminal(process, process.env, { machine: json });
  const prompt = await readMessage(terminal, words);
  if (prompt.trim() !== '') return prompt;
  throw new UsageError('The prompt is empty: give a task, or pipe one in.');
}

function print({ json }: Options, value: object, text: string): void {
  printOut(json ? jsonLine(value) : text);
}
