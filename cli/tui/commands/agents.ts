/** The command that shows background agents, follows one, merges its work, or stops one. */
import type { Agent, AgentInfo } from '../../../shared/api/agents.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { diffText, merge, NOTHING_TO_MERGE, previewMerge } from '../../agents/apply.ts';
import { agentDetails } from '../../agents/shown.ts';
import { type Branch, branchesBelow, stopSubagent } from '../../agents/tree.ts';
import { ownCommand } from '../../terminal/own-command.ts';
import { ageOf } from './ages.ts';
import type { CommandDesk, SlashCommand } from './command.ts';

export const AGENTS: readonly SlashCommand[] = [
  {
    name: 'agents',
    help: 'Show background agents: follow one, merge its work, stop it',
    run: showAgents,
  },
];

async function showAgents(_: string, desk: CommandDesk): Promise<void> {
  const { session, say, pick } = desk;
  const { items } = await session.chat.client.listAgents({ limit: REQUEST_LIMITS.maxPageSize });
  if (items.length === 0)
    return say(
      `There is no background agent: ${ownCommand('agents', 'create', 'PROMPT')} starts one.`,
    );
  const nowMs = Date.now();
  const branches = await Promise.all(items.map((each) => subagentsOf(each, desk)));
  const rows = items.flatMap(({ id, title, status, updated }, at) => [
    {
      value: id,
      label: printableLine(title, REQUEST_LIMITS.maxNameChars),
      description: `${status} · ${ageOf(updated, nowMs)}`,
    },
    ...(branches[at] ?? []).map((each) => {
      return { value: each.id, label: each.title, description: each.status };
    }),
  ]);
  const id = await pick({ title: 'Background agents', items: rows });
  if (id === undefined) return;
  if (items.some((each) => each.id === id)) await chooseFor(id, desk);
  else await chooseForSubagent(id, desk);
}

/** Only of one that works: finished ones would crowd the list. */
async function subagentsOf({ id, status }: AgentInfo, { session }: CommandDesk): Promise<Branch[]> {
  return status === 'running' || status === 'waiting'
    ? await branchesBelow(session.chat.client, id)
    : [];
}

async function chooseForSubagent(id: string, { session, say, pick }: CommandDesk): Promise<void> {
  switch (await pick({ title: 'This subagent', items: SUBAGENT_CHOICES })) {
    case 'follow':
      return session.open(id);
    case 'stop':
      await stopSubagent(session.chat.client, id);
      return say('The subagent is cancelled; its agent goes on without it.');
  }
}

async function chooseFor(id: string, desk: CommandDesk): Promise<void> {
  const { session, say, pick } = desk;
  const { client } = session.chat;
  const agent = await client.getAgent(id);
  const title = printableLine(agent.title, REQUEST_LIMITS.maxNameChars);
  switch (await pick({ title, items: CHOICES })) {
    case 'follow':
      return session.open(id);
    case 'show':
      return say([`${title}: ${agent.status}`, ...agentDetails(agent)].join('\n'));
    case 'apply':
      return await apply(agent, desk);
    case 'stop':
      return say(`The agent is ${(await client.changeAgent(id, 'stop')).status}.`);
    case 'archive':
      return say(`The agent is ${(await client.changeAgent(id, 'archive')).status}.`);
  }
}

/** Shows what the merge brings, asks, and merges. */
async function apply(agent: Agent, { session, say, confirm }: CommandDesk): Promise<void> {
  const { own } = session.chat;
  if (!own || own.bridgeId !== agent.bridgeId) return say(ELSEWHERE);
  const preview = await previewMerge(agent, process.cwd());
  if (preview.diff === '') return say(NOTHING_TO_MERGE);
  say(diffText(preview));
  if (!(await confirm(`Merge ${preview.branch} into the current branch?`))) {
    return say('Nothing was merged.');
  }
  say(await merge(preview));
}

const ELSEWHERE =
  'This agent works on another machine or in another folder: open Drawbridge there to merge its work.';

const FOLLOW = {
  value: 'follow',
  label: 'Follow it',
  description: 'its conversation opens here',
} as const;
const STOP = { value: 'stop', label: 'Stop it' } as const;

const SUBAGENT_CHOICES = [FOLLOW, STOP];

const CHOICES = [
  FOLLOW,
  { value: 'show', label: 'Show what it has changed' },
  { value: 'apply', label: 'Merge its work', description: 'into the current branch, after a look' },
  STOP,
  { value: 'archive', label: 'Archive it', description: 'stops it and puts it away' },
];
