import { expect, it } from 'vitest';
import { cutPromptReport } from '../../../../worker/conversation/memory/cut-prompt.ts';

/** With the tokens that o200k_base makes of it. */
it.each([
  ['a padded table', `${'id 12'.padEnd(60)}|${'open'.padEnd(60)}\n`.repeat(400), 3_200],
  ['indentation', `${' '.repeat(40)}}\n`.repeat(2_000), 4_000],
  ['rulers', `${'='.repeat(78)}\n`.repeat(1_000), 2_000],
])('takes %s for what it is, and not for a prompt that was cut', (_, content, promptTokens) => {
  expect(
    cutPromptReport([{ role: 'tool', tool_call_id: 'a', content }], usageOf(promptTokens)),
  ).toBe(null);
});

it('finds a cut behind indentation too', () => {
  const content = `${' '.repeat(40)}const a = 1;\n`.repeat(2_000);
  const report = cutPromptReport([{ role: 'user', content }], usageOf(2_050));
  expect(report?.message).toContain('read only 2050 of about 8000 tokens');
});

function usageOf(promptTokens: number) {
  return { promptTokens, completionTokens: 1, totalTokens: promptTokens + 1 };
}
