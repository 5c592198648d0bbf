/** The mode and the model of the next message, as an editor lets a person choose them. */
import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk';
import type { Client, ModelInfo } from '../../client/index.ts';
import type { Chat } from '../chat/chat.ts';
import { isForChats, listModes, type ModeChoice } from '../chat/choices.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** What can be chosen, as of the session's beginning. */
export interface EditorChoices {
  readonly modes: readonly ModeChoice[];
  readonly models: readonly ModelInfo[];
}

export async function readChoices(
  client: Client,
  bridgeId: string | undefined,
): Promise<EditorChoices> {
  const [modes, { items }] = await Promise.all([listModes(client, bridgeId), client.listModels()]);
  return { modes, models: items.filter(isForChats) };
}

/** Both forms of the mode: editors of 2026 know the one or the other. */
export function describeSettings(
  chat: Pick<Chat, 'mode' | 'model'>,
  { modes, models }: EditorChoices,
): { readonly modes: SessionModeState; readonly configOptions: SessionConfigOption[] } {
  const named = modes.map(({ name, description }) => ({ id: name, name, description }));
  const mode: SessionConfigOption = {
    id: 'mode',
    name: 'Mode',
    category: 'mode',
    type: 'select',
    currentValue: chat.mode,
    options: modes.map(({ name, description }) => ({ value: name, name, description })),
  };
  const currentValue = chat.model ?? (models.find(({ isDefault }) => isDefault) ?? models[0])?.id;
  const model: SessionConfigOption[] =
    currentValue === undefined
      ? []
      : [
          {
            id: 'model',
            name: 'Model',
            category: 'model',
            type: 'select',
            currentValue,
            options: models.map(({ id }) => ({ value: id, name: id })),
          },
        ];
  return {
    modes: { currentModeId: chat.mode, availableModes: named },
    configOptions: [mode, ...model],
  };
}

/** @throws {UsageError} for another setting or value than those of {@link describeSettings}. */
export function choose(
  chat: Pick<Chat, 'mode' | 'model'>,
  { modes, models }: EditorChoices,
  { name, value }: { readonly name: string; readonly value: unknown },
): void {
  const mode = modes.find((each) => each.name === value);
  const model = models.find(({ id }) => id === value);
  if (name === 'mode' && mode) chat.mode = mode.name;
  else if (name === 'model' && model) chat.model = model.id;
  else throw new UsageError(`There is no ${name} ${String(value)}.`);
}
