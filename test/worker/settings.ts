/** Changes settings of the Worker under test, which it reads at each request. */
import { env } from 'cloudflare:workers';
import { onTestFinished } from 'vitest';

type Setting =
  | ('MODELS' | 'PROMPT_BLOCKS' | 'PRIVATE_MODELS' | 'DELETE_AFTER_HOURS')
  | 'WEBHOOK_ORIGINS';

/** Holds until the test ends. A value that is no text is written as JSON; undefined removes the setting. */
export function configure(settings: Readonly<Partial<Record<Setting, unknown>>>): void {
  for (const [name, value] of Object.entries(settings)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const before: unknown = Reflect.get(env, name);
    Object.assign(env, { [name]: text });
    onTestFinished(() => void Object.assign(env, { [name]: before }));
  }
}
