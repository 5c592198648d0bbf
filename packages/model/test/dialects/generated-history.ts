/** Histories as conversations make them: steers, pictures, failed runs, empty answers and results, calls at once. */

import { Random } from '../../../../bench/fuzz/random.ts';
import type { UpstreamMessage } from '../../request.ts';

/** Begins with the system prompt and ends where a model is asked: with a user or with results. */
export function generatedHistory(seed: number): UpstreamMessage[] {
  const random = new Random(seed);
  const messages: UpstreamMessage[] = [{ role: 'system', content: 'You help.' }];
  const runs = 1 + random.below(6);
  let calls = 0;
  const word = () => ['', 'x', ' ', 'long words'][random.below(4)] ?? '';
  const user = () => messages.push(userOf(random, word()));
  for (let run = 0; run < runs; run++) {
    if (random.below(8) === 0) messages.push({ role: 'assistant', content: 'Stopped.' });
    user();
    if (random.below(4) === 0) user();
    for (let turns = random.below(4); turns > 0; turns--) {
      const ids = Array.from({ length: 1 + random.below(3) }, () => `call_${++calls}`);
      const made = ids.map((id) => callOf(id, word()));
      messages.push({ role: 'assistant', content: word(), tool_calls: made });
      messages.push(
        ...ids.map((id) => ({ role: 'tool' as const, tool_call_id: id, content: word() })),
      );
      if (random.below(3) === 0) user();
    }
    const isLast = run === runs - 1;
    // A run that failed has no answer.
    if (!isLast && random.below(4) > 0) messages.push({ role: 'assistant', content: word() });
  }
  return messages;
}

function userOf(random: Random, text: string): UpstreamMessage {
  if (random.below(5) > 0) return { role: 'user', content: text };
  const image_url = { url: 'data:image/png;base64,AAAA' };
  return {
    role: 'user',
    content: [
      { type: 'text', text },
      { type: 'image_url', image_url },
    ],
  };
}

function callOf(id: string, name: string) {
  return { id, type: 'function' as const, function: { name: name || 'f', arguments: '{}' } };
}
