import { expect, it } from 'vitest';
import { expand, wantsOutput } from '../../../bridge/skills/expand.ts';

const CLAUDE = { family: 'claude', argumentNames: ['issue', 'branch'], folder: '.claude/skills/x' };

it.each([
  ['the words as written', 'Fix $ARGUMENTS now', '12 "a b"', 'Fix 12 "a b" now'],
  ['words by number, as a shell splits them', '$0 and $1', '12 "a b"', '12 and a b'],
  ['the long form', '$ARGUMENTS[1]', "x 'y z'", 'y z'],
  ['names of the head', '$issue on $branch', '12 main', '12 on main'],
  ['a place without a word', 'On $1', 'one', 'On $1'],
  ['nothing for nothing', 'Fix $ARGUMENTS now', '', 'Fix  now'],
  ['words without a place', 'Fix it', '12', 'Fix it\n\nARGUMENTS: 12'],
  ['an escaped sign', 'cost \\$1 for $0', 'tea', 'cost $1 for tea'],
  ['other variables', '$HOME and ${OTHER}', '', '$HOME and ${OTHER}'],
  ["the skill's folder", 'run ${CLAUDE_SKILL_DIR}/a.sh', '', 'run .claude/skills/x/a.sh'],
  ['words that look like places', '$0 $1', '$1 $0', '$1 $0'],
  ['a lone quote', '$0', '"open', '"open'],
])('puts in %s', (_, body, args, text) => {
  expect(expand(body, { ...CLAUDE, family: 'claude', args })).toBe(text);
});

it.each(['agents', 'cursor'] as const)('%s: the words stand at the end', (family) => {
  const expanding = { ...CLAUDE, family, args: 'a b' };
  expect(expand('Cost: $0', expanding)).toBe('Cost: $0\n\nARGUMENTS: a b');
  expect(expand('Cost: $0', { ...expanding, args: ' ' })).toBe('Cost: $0');
});

it('is linear in words and places', () => {
  const long = '$ARGUMENTS '.repeat(2_000);
  expect(expand(long, { ...CLAUDE, family: 'claude', args: '"'.repeat(8_000) }).length).toBe(
    2_000 * 8_001,
  );
});

it.each([
  ['Status: !`git status`', true],
  ['```!\ngit status\n```', true],
  ['Say hello!`x`', false],
  ['Use `git status`!', false],
])('output of commands is wanted: %j', (body, wanted) => {
  expect(wantsOutput(body)).toBe(wanted);
});
