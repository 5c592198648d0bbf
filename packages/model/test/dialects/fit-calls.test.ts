import { expect, it } from 'vitest';
import type { ModelDialect } from '../../../../shared/settings/dialects.ts';
import { fewOf } from '../../../../test/depth.ts';
import { randomWords } from '../../../../test/far-ends/random-words.ts';
import { withFittingCalls } from '../../dialects/fit-calls.ts';
import { targetOf } from '../target.ts';

const DIALECTS: readonly ModelDialect[] = ['chat', 'anthropic', 'responses'];
const FORMS: Record<ModelDialect, RegExp> = {
  chat: /^.{1,40}$/s,
  anthropic: /^[\w-]{1,64}$/,
  responses: /^[\w-]{1,64}$/,
};

/** One call by this model and its result, as the server of `m` gets them. */
function sent(dialect: ModelDialect, id: string, name: string, by?: string, callIds?: 'nine') {
  const call = { id, type: 'function' as const, function: { name, arguments: '{}' } };
  const said = { role: 'assistant' as const, content: '', tool_calls: [call], ...(by && { by }) };
  const result = { role: 'tool' as const, tool_call_id: id, content: 'x' };
  const { switches } = targetOf();
  const target = targetOf({ dialect, switches: { ...switches, ...(callIds && { callIds }) } });
  const [first, second] = withFittingCalls(
    { model: 'm', messages: [said, result], tools: [] },
    target,
  );
  if (first?.role !== 'assistant' || second?.role !== 'tool') throw new Error('other messages');
  const made = first.tool_calls?.[0];
  if (!made || !('function' in made)) throw new Error('no call');
  expect(first).not.toHaveProperty('by');
  expect(second.tool_call_id).toBe(made.id);
  return { id: made.id, name: made.function.name };
}

it('another model’s ids have the form of the dialect, and any name is one that servers accept', () => {
  const random = randomWords(7);
  const seen = new Map<string, string>();
  for (let count = 0; count < fewOf(3_000, 500); count++) {
    const [id, name] = [random(), random()];
    for (const dialect of DIALECTS) {
      const made = sent(dialect, id, name, 'other');
      expect(made.id).toMatch(FORMS[dialect]);
      expect(made.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      const before = seen.get(`${dialect} ${made.id}`);
      expect([undefined, id]).toContain(before);
      seen.set(`${dialect} ${made.id}`, id);
    }
  }
});

it('a model gets its own ids back as it made them, unless its server wants nine letters', () => {
  const id = `call_x__thought__${'Ab+/='.repeat(180)}`;
  for (const dialect of DIALECTS) {
    for (const by of ['m', undefined]) expect(sent(dialect, id, 'f', by).id).toBe(id);
    expect(sent(dialect, id, 'f', 'm', 'nine').id).toMatch(/^[a-z0-9]{9}$/);
    expect(sent(dialect, 'abcDEF123', 'f', 'other', 'nine').id).toBe('abcDEF123');
  }
});
