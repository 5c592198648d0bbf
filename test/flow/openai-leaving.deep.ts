import OpenAI from 'openai';
import { it } from 'vitest';
import { until } from './house.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse({ args: ['--no-bridge'] });

// No signal reaches the Worker here: the server notices it where it writes next, after FOLLOW_LIMITS.heldMs.
it('ends the request to the model when it is left before an answer in one piece', async () => {
  const { url, token } = at.house.ready;
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: token });
  at.answerWith(() => ({ text: 'and on '.repeat(1000), delayMs: 1000 }));
  const aborted = at.model.aborted();
  const leaving = new AbortController();
  const messages = [{ role: 'user' as const, content: 'Greet the moon' }];
  const asking = openai.chat.completions
    .create({ model: 'scripted', messages }, { signal: leaving.signal })
    .catch(() => undefined);
  await until(() => at.requests().length > 0);
  leaving.abort();
  await until(() => at.model.aborted() > aborted);
  await asking;
});
