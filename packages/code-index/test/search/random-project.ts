/** Projects with ignore rules at random, and what ripgrep makes of them when it reads the rules itself. */
import { execFileSync } from 'node:child_process';
import { rgPath } from '@vscode/ripgrep';
import { Random } from '../../../../bench/fuzz/random.ts';

const NAMES = ['x.txt', 'y.log', '.hidden', 'a.f'];
const PATTERNS = [
  'a',
  'b/',
  '/a',
  '/a/b',
  'a/b',
  'a/*',
  '**/b',
  'a/**',
  '**/b/*.txt',
  '*.log',
  '!x.txt',
  '!a/b',
  '!/a/b/',
  'c d',
  'c\\ d',
  '\\[z\\]',
  '[!a]',
  '?',
  '*',
  '!*.txt',
  '#a',
  '\\#a',
  '/*/b',
  '*/x.txt',
  'b/**/y.log',
  '.h',
  '!.h',
  '/c d/*',
  '/[ab]/b',
  '',
  '  ',
  'x.txt  ',
  'a/**/b',
  '/**/x.txt',
];

/** A project of a few levels, with rules at random in some of its folders. */
export function randomProject(seed: number): Record<string, string> {
  const random = new Random(seed);
  const files: Record<string, string> = {
    'a/b/x.txt': '',
    'a/y.log': '',
    'c d/b/x.txt': '',
    '.h/a/x.txt': '',
  };
  for (const first of ['a', 'b', 'c d', '[z]', '.h']) {
    for (const second of ['', 'a/', 'b/', 'c d/', '[z]/']) {
      for (const name of NAMES) if (random.below(3) > 0) files[`${first}/${second}${name}`] = '';
    }
  }
  for (const folder of ['', 'a/', 'a/b/', 'b/', 'c d/', '[z]/a/', '.h/']) {
    for (const name of ['.gitignore', '.ignore', '.rgignore']) {
      if (random.below(3) > 0) continue;
      const rules = Array.from({ length: 1 + random.below(4) }, () => random.pick(PATTERNS));
      files[`${folder}${name}`] = rules.join(random.chance(0.5) ? '\n' : '\r\n');
    }
  }
  return files;
}

/** The files that ripgrep lists in a folder, sorted. */
export function listedByRipgrep(cwd: string, flags: readonly string[]): string[] {
  const args = [
    '--no-config',
    '--no-require-git',
    '--no-messages',
    '--files',
    '--null',
    ...flags,
    './',
  ];
  try {
    const output = execFileSync(rgPath, args, { cwd, encoding: 'utf8' });
    return output
      .split('\0')
      .slice(0, -1)
      .map((name) => name.replace(/^\.\//, ''))
      .sort();
  } catch {
    return []; // Its exit code says that there is no file.
  }
}
