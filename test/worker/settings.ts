/** Changes settings of the Worker under test, which it reads at each request. */
import { env } from 'cloudflare:workers';
import { onTestFinished } from 'vitest';

/** Holds until the test ends. A value that is no text is written as JSON; undefined removes the setting. */
export function configure(
  settings: Readonly<Partial<Record<'MODELS' | 'PROMPT_BLOCKS', unknown>>>,
): void {
  for (const [name, value] of Object.entries(settings)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    Object.assign(env, { [name]: text });
    onTestFinished(() => void Object.assign(env, { [name]: undefined }));
  }
}
