/** The command that shows background agents, follows one, or stops one. */
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { agentText } from '../../agents/shown.ts';
import { ageOf } from './ages.ts';
import type { CommandDesk, SlashCommand } from './command.ts';

export const AGENTS: readonly SlashCommand[] = [
  { name: 'agents', help: 'Show background agents, follow one, or stop one', run: showAgents },
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

async function chooseFor(id: string, { session, say, pick }: CommandDesk): Promise<void> {
  const { client } = session.chat;
  const agent = await client.getAgent(id);
  const title = printableLine(agent.title, REQUEST_LIMITS.maxNameChars);
  switch (await pick({ title, items: CHOICES })) {
    case 'follow':
      return session.open(id);
    case 'show':
      return say(agentText(agent).trimEnd());
    case 'stop':
      return say(`The agent is ${(await client.changeAgent(id, 'stop')).status}.`);
    case 'archive':
      return say(`The agent is ${(await client.changeAgent(id, 'archive')).status}.`);
  }
}

const CHOICES = [
  { value: 'follow', label: 'Follow it', description: 'its conversation opens here' },
  { value: 'show', label: 'Show what it has changed' },
  { value: 'stop', label: 'Stop it' },
  { value: 'archive', label: 'Archive it', description: 'stops it and puts it away' },
];
