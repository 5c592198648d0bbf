/** What a person can choose for the next message: its mode and its model. */
import type { Client, ModelInfo } from '../../client/index.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { chats } from '../../shared/settings/models.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { Mode } from '../../shared/wire/modes.ts';

export interface ModeChoice {
  readonly name: string;
  /** For people, without a full stop. The workspace's own words are made harmless. */
  readonly description: string;
}

/** The built-in modes, and those that the workspace of the bridge defines. */
export async function listModes(
  client: Pick<Client, 'getBridge'>,
  bridgeId: string | undefined,
): Promise<ModeChoice[]> {
  const bridge = bridgeId === undefined ? undefined : await client.getBridge(bridgeId);
  const own = bridge?.definitions.modes ?? [];
  return [
    ...Mode.options.map((name) => ({ name, description: MODES[name] })),
    ...own.map(({ name, description = '' }) => {
      return { name, description: printableLine(description, REQUEST_LIMITS.maxNameChars) };
    }),
  ];
}

const MODES: Readonly<Record<Mode, string>> = {
  agent: 'works on its own, and asks where your rules say so',
  plan: 'changes nothing, and makes a plan',
  ask: 'answers questions, and changes nothing',
  debug: 'looks for the cause of a bug, with evidence',
};

/** Other models make only embeddings or titles. A model that stands in no table has no roles. */
export function isForChats({ roles }: ModelInfo): boolean {
  return roles === undefined || chats({ roles });
}
