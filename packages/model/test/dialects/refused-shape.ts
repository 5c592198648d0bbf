/** Sends a generated history to strict servers of six families. */

import { DIALECTS } from '../../dialects/dialects.ts';
import type { ServerTarget } from '../../models.ts';
import type { UpstreamMessage } from '../../request.ts';
import { targetOf } from '../target.ts';
import { generatedHistory } from './generated-history.ts';
import { TEMPLATES } from './templates.ts';

/** What the servers refuse of the history with this seed; [] where all take it. */
export function refusedShapes(seed: number): string[] {
  const messages = generatedHistory(seed);
  const sent = (changes: Partial<ServerTarget>) => {
    const target = targetOf(changes);
    return DIALECTS[target.dialect].format({ model: 'm', messages, tools: [] }, target) as {
      messages: UpstreamMessage[];
    };
  };
  const found = TEMPLATES.flatMap(([upstreamId, templates]) => {
    const body = sent({ upstreamId });
    const why = templates.map((template) => template(body.messages)).find((each) => each !== null);
    return why ? [`${upstreamId}: ${why}`] : [];
  });
  const claude = refusedByClaude(sent({ dialect: 'anthropic' }).messages as never);
  return claude ? [...found, `claude: ${claude}`] : found;
}

interface ClaudeTurn {
  readonly role: string;
  readonly content: readonly {
    readonly type: string;
    readonly id?: string;
    readonly tool_use_id?: string;
    readonly text?: string;
  }[];
}

/** Turns alternate from the user on; the results of all calls stand first in the next turn; no text is blank. */
function refusedByClaude(turns: readonly ClaudeTurn[]): string | null {
  for (const [index, { role, content }] of turns.entries()) {
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) return `${role} at ${index}`;
    if (content.length === 0) return 'an empty turn';
    if (content.some(({ type, text }) => type === 'text' && text?.trim() === '')) return 'blank';
    const before = index === 0 ? [] : (turns[index - 1]?.content ?? []);
    const calls = before.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    const results = content.slice(0, calls.length).map(({ tool_use_id: id }) => id);
    if (calls.some((id, at) => id !== results[at])) return 'a call without its result';
  }
  return null;
}
