import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { idleRules, parseRules, readRules } from '../../bridge/admission/rules.ts';
import { addRules, changeRules } from '../../machine/owner-rules.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';

const RULE = {
  tool: 'mcp:tickets',
  pattern: 'tickets/find',
  decision: 'allow',
  definition: 'a'.repeat(64),
};

it('adds the rule of an answer behind those of the owner, once, and keeps them', async () => {
  const path = join(temporaryFolder(), 'policy.json');
  const at = (answered: string) => ({ ...RULE, answered });
  await addRules(path, [at('2026-11-24T00:00:00.000Z')]);
  expect((await readRules(path)).rules).toEqual([at('2026-11-24T00:00:00.000Z')]);
  expect(statSync(path).mode & 0o077).toBe(0);
  const own = { tool: 'command', pattern: 'git push*', decision: 'deny' };
  const rules = [at('2026-11-24T00:00:00.000Z'), own, RULE];
  writeFileSync(path, JSON.stringify({ preset: 'ask', rules }));
  await addRules(path, [at('2026-11-25T00:00:00.000Z')]);
  const written = JSON.parse(readFileSync(path, 'utf8'));
  expect(written).toEqual({ preset: 'ask', rules: [own, RULE, at('2026-11-25T00:00:00.000Z')] });
  expect(idleRules(await readRules(path))).toEqual([]);
});

it('changes at the same time all count', async () => {
  const path = join(temporaryFolder(), 'policy.json');
  const numbers = Array.from({ length: 10 }, (_, number) => number);
  await Promise.all(numbers.map((number) => changeRules(path, (rules) => [...rules, number])));
  const { rules } = JSON.parse(readFileSync(path, 'utf8'));
  expect(rules.toSorted()).toEqual(numbers);
});

it.each(['', '[]', '7', '{"rules": {}}', '{"rules": ['])(
  'a file that is no file of rules (%s) stays as it is',
  async (text) => {
    const path = join(temporaryFolder(), 'policy.json');
    writeFileSync(path, text);
    await expect(addRules(path, [RULE])).rejects.toMatchObject({ kind: 'refused' });
    expect(readFileSync(path, 'utf8')).toBe(text);
  },
);

it.each<[rule: object, why: RegExp | null]>([
  [{ tool: 'mcp:tickets', decision: 'allow' }, /needs "definition"/],
  [{ tool: 'mcp_tickets_find', decision: 'allow' }, /needs "definition"/],
  [{ ...RULE, pattern: 'find' }, /its pattern is "server\/tool"/],
  [
    { tool: 'command', decision: 'allow', definition: RULE.definition },
    /only tools of MCP servers/,
  ],
  [RULE, null],
  [{ tool: 'mcp:*', decision: 'ask' }, null],
  [{ tool: '*', decision: 'allow' }, null],
  [{ tool: 'command', pattern: 'make', decision: 'allow' }, null],
])('%j has no effect: %s', (rule, why) => {
  const sentences = idleRules(parseRules(JSON.stringify({ rules: [rule] }), 'policy.json'));
  expect(sentences).toEqual(why === null ? [] : [expect.stringMatching(why)]);
});
