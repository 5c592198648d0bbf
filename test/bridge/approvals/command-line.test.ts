import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parseCommandLine } from '../../../bridge/approvals/command-line.ts';
import { SHELL } from '../../../bridge/terminal/launch.ts';

test.each([
  ['git status', ['git status']],
  ['a && git push', ['a', 'git push']],
  ['a||b;c|d&e\nf', ['a', 'b', 'c', 'd', 'e', 'f']],
  ['echo "a && b; c"', ['echo "a && b; c"']],
  ["echo 'a | b'", ["echo 'a | b'"]],
  [String.raw`echo a\;b`, [String.raw`echo a\;b`]],
  ['npm test 2>&1 | tail -5', ['npm test 2>&1', 'tail -5']],
  ['npm test > /dev/null 2>&1', ['npm test > /dev/null 2>&1']],
  ['if true; then git push; fi', ['true', 'git push']],
  ['echo "costs $5"', ['echo "costs $5"']],
  ['echo "${HOME}" ${HOME}#a', ['echo "${HOME}" ${HOME}#a']],
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
  ['A=1 B=2 git push', 'git push'],
  ['A="x y" B[0]+=\'z z\' git push', 'git push'],
  ['npm test >&1file', 'npm test'],
])('the line %j is not plain, and %j in it is still found', (line, command) => {
  const { commands, isPlain } = parseCommandLine(line);
  expect({ isPlain, commands }).toEqual({
    isPlain: false,
    commands: expect.arrayContaining([command]),
  });
});

test.each([
  ['quotes of ANSI C', String.raw`true $'\'' ; echo ran #'`],
  ['comments', "true # '\necho ran #'"],
  ['prompts', "true ${x:='$(echo ran >&2)'} ${x@P}"],
  ['prompts in quotes', String.raw`true "${'${'}x:=\$(echo ran >&2)}" "${'${'}x@P}"`],
  ['arithmetic', "true ${x:='a[$(echo ran >&2)]'} $[x]"],
  ['variables', "x='$(echo ran >&2)'; true ${x@P}"],
])('a line in which a shell finds another command than we do is not plain: %s', async (_, line) => {
  const { stdout, stderr } = await promisify(execFile)(SHELL, ['-c', line]);
  expect({ ran: stdout + stderr, isPlain: parseCommandLine(line).isPlain }).toEqual({
    ran: expect.stringContaining('ran'),
    isPlain: false,
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
