/** The command that shows what runs in the background, stops it, or opens a port of it. */
import { LocalError } from '../../../machine/local-error.ts';
import type { ProcessInfo } from '../../../shared/wire/processes.ts';
import { addressOf, NO_DEVICE, OPENED, parsePort, portWords } from '../../render/process.ts';
import { shortLine } from '../../terminal/short-line.ts';
import { ageOf } from './ages.ts';
import type { CommandDesk, SlashCommand } from './command.ts';

export const PROCESSES: readonly SlashCommand[] = [
  {
    name: 'processes',
    takes: '[ID PORT]',
    help: 'Show what runs in the background, stop it, open its port',
    run: showProcesses,
  },
];

async function showProcesses(rest: string, desk: CommandDesk): Promise<void> {
  const { session, say, pick } = desk;
  const { bridgeId } = session;
  if (bridgeId === undefined) return say('This conversation works in no folder.');
  const { client } = session.chat;
  if (rest !== '') return await openPort(bridgeId, rest, desk);
  const { items } = await client.listProcesses(bridgeId);
  const running = items.filter((each) => each.running);
  if (running.length === 0) return say('Nothing runs in the background.');
  const nowMs = Date.now();
  const id = await pick({
    title: 'What runs in the background',
    items: running.map((each) => ({
      value: each.id,
      label: shortLine(each.command),
      description: factsOf(each, nowMs),
    })),
  });
  const chosen = running.find((each) => each.id === id);
  if (chosen) await chooseFor(bridgeId, chosen, desk);
}

function factsOf({ ports = [], started, lastLine }: ProcessInfo, nowMs: number): string {
  const last = lastLine === undefined ? [] : [shortLine(lastLine)];
  return [...portWords(ports), ageOf(started, nowMs), ...last].join(' · ');
}

async function chooseFor(
  bridgeId: string,
  { id, command, lastLine = '' }: ProcessInfo,
  { session, say, pick, write }: CommandDesk,
): Promise<void> {
  switch (await pick({ title: shortLine(command), items: CHOICES })) {
    case 'stop':
      await session.chat.client.stopProcess(bridgeId, id);
      return say(`Stopped: ${shortLine(command)}`);
    case 'open':
      say('Write the port behind the id of the process.');
      // The one that the command names in an address, if it does.
      return write(`/processes ${id} ${/:(\d{2,5})\b/.exec(lastLine)?.[1] ?? ''}`);
  }
}

const CHOICES = [
  { value: 'stop', label: 'Stop it', description: 'with all that it started' },
  { value: 'open', label: 'Open a port of it', description: 'to the browser of its machine' },
];

/** `words` are the id of a process and the port. */
async function openPort(
  bridgeId: string,
  words: string,
  { session, say }: CommandDesk,
): Promise<void> {
  const { client, device } = session.chat;
  const [id = '', typed = ''] = words.split(/\s+/);
  const port = parsePort(typed);
  if (device === null) throw new LocalError('refused', NO_DEVICE);
  const opened = await client.openPort(bridgeId, id, port, device);
  say(`${OPENED}\n${addressOf(opened, port)}`);
}
