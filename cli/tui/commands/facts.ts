/** The commands that show how things are: rules, MCP servers, costs, the place of the conversation. */
import { hostname } from 'node:os';
import { addEntries, dayOf } from '../../../shared/api/usage.ts';
import { nameInLine, printableLine } from '../../../shared/text/plain-sight.ts';
import type { PolicyRule } from '../../../shared/wire/policy.ts';
import { mcpStateOf } from '../../render/mcp-server.ts';
import { formatCost, spentOf } from '../../render/run.ts';
import { ownCommand } from '../../terminal/own-command.ts';
import { shortLine } from '../../terminal/short-line.ts';
import type { Session } from '../session.ts';
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
  const all = items.length === 0 ? undefined : items.reduce(addEntries);
  const costs = all?.costs.map(formatCost) ?? [];
  const ofDay = all ? [`${all.totalTokens} tokens`, ...costs].join(' · ') : 'nothing';
  say(
    [
      ...(view ? await conversationCost(chat.client, view.id) : []),
      `Today (UTC), all conversations: ${ofDay}`,
    ].join('\n'),
  );
}

/** One line for each model, of the whole conversation. */
async function conversationCost(client: Session['chat']['client'], id: string): Promise<string[]> {
  const { conversation } = await client.exportConversation(id);
  const lines = conversation.responses.flatMap(({ model, usage }) =>
    usage ? [`  ${shortLine(model)}: ${spentOf(usage).join(' · ')}`] : [],
  );
  return ['This conversation, answer by answer:', ...(lines.length === 0 ? ['  nothing'] : lines)];
}

async function showStatus(_: string, { session, say }: CommandDesk): Promise<void> {
  const { chat, bridgeId, view, current, lostMs } = session;
  const bridge = bridgeId === undefined ? undefined : await chat.client.getBridge(bridgeId);
  const rows = {
    Server: `${chat.url ?? 'unknown'}${lostMs === undefined ? '' : ' (the connection is lost)'}`,
    Folder: bridge ? printableLine(bridge.workspacePath, MAX_PATH) : 'none',
    Bridge: bridge ? `${bridge.id}, ${bridge.connected ? 'connected' : 'not connected'}` : 'none',
    Machine: chat.own?.bridgeId === bridgeId ? `${hostname()} (this one)` : 'another one',
    Sandbox: bridge?.confinement.kind ?? 'unknown',
    Model: shortLine(chat.model ?? current?.model ?? 'the default of the server'),
    Mode: shortLine(chat.mode),
    Conversation: view?.id ?? 'new',
    ...(view?.privacy && {
      Private: `deleted ${view.privacy.deleteAfterHours} h after the last answer`,
    }),
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
