import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { callDrawbridge } from '../called.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const isThere = (shell: Shell) => spawnSync(shell, ['-c', 'true']).status === 0;
const scripts = new Map<Shell, string>();

beforeAll(async () => {
  for (const shell of SHELLS) {
    scripts.set(shell, (await callDrawbridge(['completion', shell])).stdout);
  }
});

/** The words that the shell offers for the last of the words. */
const OFFERS: Readonly<Record<Shell, (file: string, words: readonly string[]) => string>> = {
  bash: (file, words) =>
    run(
      'bash',
      file,
      words,
      `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _drawbridge
      printf '%s\\n' "\${COMPREPLY[@]}"`,
    ),
  // zsh completes only at a terminal: what the script calls there is printed instead.
  zsh: (file, words) =>
    run(
      'zsh',
      file,
      words,
      `compdef() { :; }; _files() { print -l FILES; }; compadd() { shift; print -l -- "$@"; }
      _describe() { print -l -- \${(P)3%%:*}; }
      source "$1"; shift; words=("$@"); CURRENT=$#; _drawbridge`,
    ),
  fish: (file, words) =>
    run('fish', file, words, 'source $argv[1]; complete -C (string join " " -- $argv[2..])'),
};

function run(shell: Shell, file: string, words: readonly string[], script: string): string {
  const first = shell === 'fish' ? [] : [shell];
  const flags = shell === 'bash' ? ['--norc'] : shell === 'zsh' ? ['-f'] : ['--no-config'];
  return execFileSync(shell, [...flags, '-c', script, ...first, file, ...words], {
    encoding: 'utf8',
  });
}

function offered(shell: Shell, line: string): string[] {
  const words = line.split(' ');
  const file = join(temporaryFolder(), 'script');
  writeFileSync(file, scripts.get(shell) ?? '');
  const current = words.at(-1) ?? '';
  return OFFERS[shell](file, words)
    .split('\n')
    .map((text) => text.split('\t')[0] ?? '')
    .filter((text) => text !== '' && text.startsWith(current))
    .sort();
}

describe.each(SHELLS.filter(isThere))('%s', (shell) => {
  test.each([
    ['drawbridge cha', ['chat']],
    ['drawbridge config ', ['edit', 'get', 'help', 'model', 'path', 'set', 'unset']],
    ['drawbridge config s', ['set']],
    ['drawbridge up --no-', ['--no-bridge', '--no-browser']],
    ['drawbridge chat --questions ', ['ask', 'default', 'never', 'stop']],
    ['drawbridge chat --reasoning --questions n', ['never']],
    ['drawbridge completion ', ['bash', 'fish', 'zsh']],
    ['drawbridge conversations list --s', ['--search', '--state']],
    ['drawbridge --ver', ['--version']],
  ])('%s: %j', (line, words) => {
    expect(offered(shell, line)).toEqual(expect.arrayContaining(words));
    if (!line.endsWith(' ')) expect(offered(shell, line)).toEqual(words);
  });

  test('offers no words of another command, and none for a free text', () => {
    expect(offered(shell, 'drawbridge config --por')).toEqual([]);
    expect(offered(shell, 'drawbridge chat --model ag')).toEqual([]);
  });
});

test('all shells know every command', () => {
  const names = (shell: Shell) =>
    new Set(scripts.get(shell)?.match(/drawbridge(?: [a-z-]+)+(?=')/g));
  expect(names('bash').size).toBeGreaterThan(40);
  expect(names('zsh')).toEqual(names('bash'));
});

test('another shell is refused', async () => {
  const { code, stderr } = await callDrawbridge(['completion', 'tcsh']);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('Allowed choices are bash, zsh, fish'),
  ]);
});
