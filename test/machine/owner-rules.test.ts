import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { idleRules, parseRules, readRules } from '../../bridge/admission/rules.ts';
import { mayFetch } from '../../bridge/admission/web.ts';
import { allowAlways, changeRules } from '../../machine/owner-rules.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';

const OFFER = { server: 'tickets', tool: 'find', definition: 'a'.repeat(64) };
const RULE = {
  ...{ tool: 'mcp:tickets', pattern: 'tickets/find', decision: 'allow' },
  definition: OFFER.definition,
};

it('an answer "always" adds the rule behind those of the owner, and keeps them', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'policy.json');
  await allowAlways(folder, OFFER);
  expect((await readRules(path)).rules).toEqual([RULE]);
  expect(statSync(path).mode & 0o077).toBe(0);
  const own = { tool: 'command', pattern: 'git push*', decision: 'deny' };
  writeFileSync(path, JSON.stringify({ preset: 'ask', rules: [own] }));
  await allowAlways(folder, OFFER);
  const written = JSON.parse(readFileSync(path, 'utf8'));
  expect(written).toEqual({ preset: 'ask', rules: [own, RULE] });
  expect(idleRules(await readRules(path))).toEqual([]);
});

it('an answer "always" for a site adds a rule that allows its pages, and no others', async () => {
  const folder = temporaryFolder();
  await allowAlways(folder, { site: 'docs.example.com' });
  const { rules } = await readRules(join(folder, 'policy.json'));
  const isAllowed = (url: string) => mayFetch(url, { userRules: rules, workspaceRules: [] });
  expect(isAllowed('https://docs.example.com/a?b')).toBe(true);
  expect(isAllowed('http://docs.example.com/')).toBe(true);
  expect(isAllowed('https://docs.example.com.evil.test/')).toBe(false);
  expect(isAllowed('https://evil.test/docs.example.com/')).toBe(false);
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
    const folder = temporaryFolder();
    const path = join(folder, 'policy.json');
    writeFileSync(path, text);
    await expect(allowAlways(folder, OFFER)).rejects.toMatchObject({ kind: 'refused' });
    expect(readFileSync(path, 'utf8')).toBe(text);
  },
);

it.each<[rule: object, why: RegExp | null]>([
  [{ tool: 'mcp:tickets', decision: 'allow' }, /needs "definition"/],
  [{ tool: 'mcp_tickets_find', decision: 'allow' }, /needs "definition"/],
  [{ ...RULE, pattern: 'find' }, /its pattern is "server\/tool"/],
  [
    { tool: 'command', decision: 'allow', definition: OFFER.definition },
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
