import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Random } from '../../../bench/fuzz/random.ts';
import { parseCommandLine } from '../../../bridge/admission/command-line.ts';
import { SHELL } from '../../../packages/sandbox/terminal/launch.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';
import { randomLine } from './generated-lines.ts';
import { createOracle, isAllowed } from './shell-oracle.ts';

/** The commands as the line has them. */
function read(line: string) {
  const { commands, isPlain, isWhole } = parseCommandLine(line);
  return { commands: commands.map(({ text }) => text), isPlain, isWhole };
}

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
  expect(read(line)).toEqual({ commands, isPlain: true, isWhole: true });
});

test.each([
  ['echo $(git push)', 'git push'],
  ['echo "now $(git push)"', 'git push'],
  ['echo `git push`', 'git push'],
  ['(git push)', 'git push'],
  ['diff <(git push) b', 'git push'],
  ['echo x > file; git push', 'git push'],
  ['npm test >/dev/nullish', 'npm test'],
  ['cat <<EOF\nx\nEOF\ngit push', 'git push'],
  ['A=1 B=2 git push', 'git push'],
  ['A="x y" B[0]+=\'z z\' git push', 'git push'],
  ['npm test >&1file', 'npm test'],
])('the line %j is not plain, and %j in it is still found', (line, command) => {
  const { commands, isPlain, isWhole } = parseCommandLine(line);
  const found = commands.map(({ words }) => words.join(' '));
  expect({ isPlain, isWhole, found }).toEqual({
    isPlain: false,
    isWhole: true,
    found: expect.arrayContaining([command]),
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
  ["git status>&2\v'$(touch PWNED)'"],
  ["git status>&2\f'$(touch PWNED)'"],
  ["git status>&2\r'$(touch PWNED)'"],
  ['git status\va'],
  ['git status \u00a0a'],
  ['git status \u0085'],
  ['git status "\x01"'],
  ['git status >&2$#'],
  ['git status 10>&1'],
  ['git status {x}>/dev/null'],
  ['git status &>/dev/null a'],
  ['git status &>/dev/null \\\na'],
  ['git sta\\\ntus'],
  ['git status "\u8868\\"'],
  ['git status #a'],
  ['git status ;; a'],
  ['git status $"a"'],
  ['git status a[$x]=1; a[1 + 2]=3'],
  ['time git status'],
  ['[[ a ]]'],
])('a line that shells read in different ways is not plain: %j', (line) => {
  expect(read(line).isPlain).toBe(false);
});

test.skipIf(!existsSync('/bin/bash'))(
  'what runs unasked of generated lines is what the rules allow',
  async () => {
    const random = new Random(1);
    const oracle = await createOracle(await temporaryFolder());
    const lines = Array.from({ length: 300 }, () => randomLine(random)).filter(isAllowed);
    const found: string[] = [];
    for (const line of lines) found.push(...(await oracle(line, 'bash')));
    expect({ found, isMuch: lines.length > 30 }).toEqual({ found: [], isMuch: true });
  },
);

test.each([
  ['digits', '1'.repeat(30_000)],
  ['quotes', '"'.repeat(30_001)],
  ['substitutions in quotes', '"$('.repeat(10_000)],
  ['assignments', 'a=1 '.repeat(8_000)],
])('a long line of %s is taken apart all the same', (_, line) => {
  expect(parseCommandLine(line).commands.length).toBeGreaterThan(0);
});
