/** A model on a server of a test's own. */
import { resolveTarget, type ServerTarget } from '../models.ts';

/** As an upstream without a table has it, but for what a test changes. */
export function targetOf(changes: Partial<ServerTarget> = {}): ServerTarget {
  const target = resolveTarget('big', { OPENAI_BASE_URL: 'http://model.test/v1' });
  if (target.kind !== 'server') throw new Error('the demo model is no upstream');
  return { ...target, apiKey: 'sk-test', ...changes };
}
