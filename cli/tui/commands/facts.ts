/** The commands that show how things are: rules, MCP servers, costs, the place of the conversation. */
import { hostname } from 'node:os';
import { addEntries, dayOf, type UsageEntry } from '../../../shared/api/usage.ts';
import { nameInLine, printableLine } from '../../../shared/text/plain-sight.ts';
import type { Usage } from '../../../shared/wire/documents.ts';
import type { PolicyRule } from '../../../shared/wire/policy.ts';
import { afterHours } from '../../chat/privacy.ts';
import type { ChatSession } from '../../chat/session.ts';
import { mcpStateOf } from '../../render/mcp-server.ts';
import { formatCost } from '../../render/run.ts';
import { ownCommand } from '../../terminal/own-command.ts';
import { shortLine } from '../../terminal/short-line.ts';
import type { CommandDesk, SlashCommand } from './command.ts';

export const FACTS: readonly SlashCommand[] = [
  { name: 'policy', help: 'Show your rules for what runs without a question', run: showPolicy },
  { name: 'mcp', help: 'Show the MCP servers of this folder and their tools', run: showServers },
  { name: 'cost', help: 'Show tokens and costs of this conversation and of today', run: showCost },
  {
    name: 'status',
    help: 'Show the server, the machine, the sandbox and the model',
    run: showStatus,
  },
];

async function showPolicy(_: string, { session, say }: CommandDesk): Promise<void> {
  const { chat, bridgeId } = session;
  if (bridgeId === undefined) return say(NO_FOLDER);
  const { preset, rules, ruleCount, problems } = await chat.client.getPolicy(bridgeId);
  const hidden = ruleCount - rules.length;
  say(
    [
      preset === null ? 'The files of rules cannot be read: nothing runs.' : `Preset: ${preset}`,
      ...(hidden > 0 ? [`… ${hidden} rules before`] : []),
      ...rules.map(ruleLine),
      ...problems.map(shortLine),
      `The last rule that matches wins. Change them with \`${ownCommand('policy')}\`.`,
    ].join('\n'),
  );
}

function ruleLine({
  scope,
  decision,
  tool,
  pattern,
  sandbox,
  permissions = [],
}: PolicyRule): string {
  const where = scope === 'everywhere' ? 'all projects' : 'this project';
  const more = [...(sandbox ? ['only in a sandbox'] : []), ...permissions.map(nameInLine)];
  return [decision, nameInLine(tool), nameInLine(pattern), `(${[where, ...more].join(', ')})`].join(
    ' ',
  );
}

async function showServers(_: string, { session, say }: CommandDesk): Promise<void> {
  const { chat, bridgeId } = session;
  if (bridgeId === undefined) return say(NO_FOLDER);
  const { mcpServers } = await chat.client.getBridge(bridgeId);
  const lines = mcpServers.flatMap((server) => [
    `${shortLine(server.name)}: ${mcpStateOf(server)}`,
    ...server.tools.map(
      ({ name, description }) => `  ${shortLine(name)}  ${shortLine(description)}`,
    ),
  ]);
  const none = `There is no MCP server: \`${ownCommand('mcp', 'add')}\` adds one.`;
  say(lines.length === 0 ? none : lines.join('\n'));
}

async function showCost(_: string, { session: { chat, view }, say }: CommandDesk): Promise<void> {
  const today = dayOf(Date.now());
  const { items } = await chat.client.listUsage({ from: today, to: today });
  const here = view ? await usageOf(chat.client, view.id) : [];
  say(
    [
      'This conversation:',
      ...linesOf(here),
      'All conversations today (UTC):',
      ...linesOf(items),
    ].join('\n'),
  );
}

/** What the whole conversation has spent, by model. */
async function usageOf(client: ChatSession['chat']['client'], id: string): Promise<UsageEntry[]> {
  const { conversation } = await client.exportConversation(id);
  const byModel = new Map<string, UsageEntry>();
  for (const { model, usage } of conversation.responses) {
    const entry = usage && entryOf(model, usage);
    const sum = byModel.get(model);
    if (entry) byModel.set(model, sum ? addEntries(sum, entry) : entry);
  }
  return [...byModel.values()];
}

function entryOf(model: string, usage: Usage): UsageEntry {
  const { cachedPromptTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  const { promptTokens, completionTokens, totalTokens, unreportedRequests = 0, cost } = usage;
  return {
    day: '',
    model,
    responses: 1,
    promptTokens,
    completionTokens,
    totalTokens,
    cachedPromptTokens,
    cacheWriteTokens,
    reasoningTokens,
    unreportedRequests,
    costs: cost ? [cost] : [],
  };
}

function linesOf(entries: readonly UsageEntry[]): string[] {
  return entries.length === 0 ? ['  nothing'] : entries.map(lineOf);
}

/** Counts and costs are lower bounds where the server of the model reported none for some requests. */
function lineOf(entry: UsageEntry): string {
  const { model, responses, totalTokens, promptTokens, completionTokens, costs } = entry;
  const atLeast = entry.unreportedRequests > 0 ? 'at least ' : '';
  const tokens = `${atLeast}${totalTokens} tokens (${promptTokens} in, ${completionTokens} out)`;
  const facts = [`${responses} ${responses === 1 ? 'answer' : 'answers'}`, tokens];
  return `  ${shortLine(model)}: ${[...facts, ...costs.map(formatCost)].join(' · ')}`;
}

async function showStatus(_: string, { session, say }: CommandDesk): Promise<void> {
  const { chat, bridgeId, view, current, lostMs } = session;
  const bridge = bridgeId === undefined ? undefined : await chat.client.getBridge(bridgeId);
  const rows = {
    Server: `${chat.url ?? 'unknown'}${lostMs === undefined ? '' : ' (the connection is lost)'}`,
    Folder: bridge ? printableLine(bridge.workspacePath, MAX_PATH) : 'none',
    Bridge: bridge ? `${bridge.id}, ${bridge.connected ? 'connected' : 'not connected'}` : 'none',
    ...(bridge?.replaced && { Replaced: `another program took its place at ${bridge.replaced}` }),
    Machine: chat.own?.bridgeId === bridgeId ? `${hostname()} (this one)` : 'another one',
    Sandbox: bridge?.confinement.kind ?? 'unknown',
    Model: shortLine(chat.model ?? current?.model ?? 'the default of the server'),
    Mode: shortLine(chat.mode),
    Conversation: view?.id ?? 'new',
    ...(view?.privacy && { Private: `deleted ${afterHours(view.privacy.deleteAfterHours)}` }),
  };
  const width = Math.max(...Object.keys(rows).map(({ length }) => length));
  say(
    Object.entries(rows)
      .map(([name, value]) => `${name.padEnd(width)}  ${value}`)
      .join('\n'),
  );
}

/** UTF-16 units. */
const MAX_PATH = 1_024;

const NO_FOLDER = 'This conversation works in no folder.';
