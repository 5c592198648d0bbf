import { expect, test } from 'vitest';
import { parseCommandLine } from '../../../bridge/approvals/command-line.ts';

test.each([
  ['git status', ['git status']],
  ['a && git push', ['a', 'git push']],
  ['a||b;c|d&e\nf', ['a', 'b', 'c', 'd', 'e', 'f']],
  ['echo "a && b; c"', ['echo "a && b; c"']],
  ["echo 'a | b'", ["echo 'a | b'"]],
  [String.raw`echo a\;b`, [String.raw`echo a\;b`]],
  ['npm test 2>&1 | tail -5', ['npm test 2>&1', 'tail -5']],
  ['npm test > /dev/null 2>&1', ['npm test > /dev/null 2>&1']],
  ['A=1 B=2 git push', ['git push']],
  ['if true; then git push; fi', ['true', 'git push']],
  ['echo "costs $5"', ['echo "costs $5"']],
  ['', ['']],
])('the plain line %j holds the commands %j', (line, commands) => {
  expect(parseCommandLine(line)).toEqual({ commands, isPlain: true });
});

test.each([
  ['echo $(git push)', 'git push'],
  ['echo "now $(git push)"', 'git push'],
  ['echo `git push`', 'git push'],
  ['(git push)', 'git push'],
  ['diff <(git push) b', 'git push'],
  ['echo x > file; git push', 'git push'],
  ['npm test >/dev/nullish', 'npm test'],
  ['echo "open; git push', 'git push'],
  ["echo 'open; git push", 'git push'],
  ['cat <<EOF\nx\nEOF\ngit push', 'git push'],
])('the line %j is not plain, and %j in it is still found', (line, command) => {
  const { commands, isPlain } = parseCommandLine(line);
  expect({ isPlain, commands }).toEqual({
    isPlain: false,
    commands: expect.arrayContaining([command]),
  });
});

test.each([
  ['digits', '1'.repeat(30_000)],
  ['quotes', '"'.repeat(30_001)],
  ['substitutions in quotes', '"$('.repeat(10_000)],
  ['assignments', 'a=1 '.repeat(8_000)],
])('a long line of %s is taken apart all the same', (_, line) => {
  expect(parseCommandLine(line).commands.length).toBeGreaterThan(0);
});
