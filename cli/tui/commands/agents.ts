/** The command that shows background agents, follows one, merges its work, or stops one. */
import type { Agent } from '../../../shared/api/agents.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { diffText, merge, NOTHING_TO_MERGE, previewMerge } from '../../agents/apply.ts';
import { agentText } from '../../agents/shown.ts';
import { ageOf } from './ages.ts';
import type { CommandDesk, SlashCommand } from './command.ts';

export const AGENTS: readonly SlashCommand[] = [
  {
    name: 'agents',
    help: 'Show background agents, follow one, merge its work, or stop one',
    run: showAgents,
  },
];

async function showAgents(_: string, desk: CommandDesk): Promise<void> {
  const { session, say, pick } = desk;
  const { items } = await session.chat.client.listAgents({ limit: REQUEST_LIMITS.maxPageSize });
  if (items.length === 0) return say('There is no background agent.');
  const nowMs = Date.now();
  const id = await pick({
    title: 'Background agents',
    items: items.map(({ id, title, status, updated }) => ({
      value: id,
      label: printableLine(title, REQUEST_LIMITS.maxNameChars),
      description: `${status} · ${ageOf(updated, nowMs)}`,
    })),
  });
  if (id !== undefined) await chooseFor(id, desk);
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
      return say(agentText(agent).trimEnd());
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

const CHOICES = [
  { value: 'follow', label: 'Follow it', description: 'its conversation opens here' },
  { value: 'show', label: 'Show what it has changed' },
  { value: 'apply', label: 'Merge its work', description: 'into the current branch, after a look' },
  { value: 'stop', label: 'Stop it' },
  { value: 'archive', label: 'Archive it', description: 'stops it and puts it away' },
];
