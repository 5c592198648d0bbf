/** The commands that choose how the next message is answered: its mode and its model. */
import type { AutocompleteItem, SelectItem } from '@earendil-works/pi-tui';
import type { ModelInfo } from '../../../client/index.ts';
import { MODEL_LIMITS } from '../../../shared/limits.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { ModeName } from '../../../shared/wire/definitions.ts';
import { Mode } from '../../../shared/wire/modes.ts';
import { isForChats, listModes } from '../../chat/choices.ts';
import type { ChatSession } from '../../chat/session.ts';
import type { CommandDesk, SlashCommand } from './command.ts';

export const SETTINGS: readonly SlashCommand[] = [
  {
    name: 'mode',
    takes: '[NAME]',
    help: 'Choose the mode of the next message',
    complete: async (prefix, { session }) => startingWith(prefix, await modesOf(session)),
    run: setMode,
  },
  {
    name: 'model',
    takes: '[NAME]',
    help: 'Choose the model of the next message',
    complete: async (prefix, { session }) => {
      const { items } = await session.chat.client.listModels();
      return startingWith(prefix, items.filter(isForChats).map(modelItem));
    },
    run: setModel,
  },
];

async function setMode(rest: string, { session, say, pick }: CommandDesk): Promise<void> {
  const items = rest === '' ? await modesOf(session) : [];
  const title = `The mode of the next message (now ${session.chat.mode})`;
  const name = rest === '' ? await pick({ title, items }) : rest;
  if (name === undefined) return;
  const parsed = ModeName.safeParse(name);
  if (!parsed.success) {
    return say(`Write /mode and one name: ${Mode.options.join(', ')}, or a mode of the workspace.`);
  }
  session.chat.mode = parsed.data;
  say(`Mode: ${parsed.data}`);
}

async function modesOf({ chat, bridgeId }: ChatSession): Promise<SelectItem[]> {
  const modes = await listModes(chat.client, bridgeId);
  return modes.map(({ name, description }) => ({ value: name, label: name, description }));
}

async function setModel(rest: string, { session, say, pick }: CommandDesk): Promise<void> {
  const { chat } = session;
  const { items, passesThrough } = await chat.client.listModels();
  const known = items.filter(isForChats);
  const now = chat.model ?? known.find(({ isDefault }) => isDefault)?.id ?? 'the default';
  const title = `The model of the next message (now ${shown(now)})`;
  const name = rest === '' ? await pick({ title, items: known.map(modelItem) }) : rest;
  if (name === undefined) return;
  if (!passesThrough && !known.some(({ id }) => id === name)) {
    return say(`There is no model ${shown(name)}: /model lists them.`);
  }
  chat.model = name;
  say(`Model: ${shown(name)}`);
}

function modelItem(model: ModelInfo): SelectItem {
  return { value: model.id, label: shown(model.id), description: factsOf(model) };
}

function factsOf({ isDefault, contextWindow, prices, takesImages }: ModelInfo): string {
  return [
    ...(isDefault ? ['the default'] : []),
    ...(contextWindow === undefined ? [] : [`${Math.round(contextWindow / 1000)}k tokens`]),
    ...(prices ? [`${prices.input} in, ${prices.output} out ${prices.currency} per million`] : []),
    ...(takesImages ? ['images'] : []),
  ].join(' · ');
}

function shown(name: string): string {
  return printableLine(name, MODEL_LIMITS.maxNameChars);
}

function startingWith(prefix: string, items: readonly SelectItem[]): AutocompleteItem[] {
  return items.filter(({ value }) => value.startsWith(prefix));
}
