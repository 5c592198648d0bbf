import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { complain, describeError, describeFailure } from '../../cli/terminal/failure-text.ts';
import { asTyped, ownCommand } from '../../cli/terminal/own-command.ts';
import { printErr } from '../../cli/terminal/print.ts';
import { ClientError } from '../../client/index.ts';
import { LocalError } from '../../machine/local-error.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { sourceFiles } from '../source-files.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PROGRAM = join(ROOT, 'bin', 'drawbridge.mjs');

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test('suggests commands that work in the shell: installed, run by npx, and neither', () => {
  const installed = folderWithProgram('bin');
  const byNpx = folderWithProgram('node_modules/.bin');
  expect(suggested([installed])).toBe('drawbridge status');
  expect(suggested([byNpx])).toBe('bin/drawbridge.mjs status');
  const here = vi.spyOn(process, 'cwd').mockReturnValue(join(byNpx, '..', '..', 'src'));
  expect(suggested([byNpx])).toBe('npx drawbridge status');
  expect(suggested([byNpx, installed])).toBe('drawbridge status');
  here.mockReturnValue(dirname(PROGRAM));
  expect(suggested([])).toBe('./drawbridge.mjs status');
  here.mockReturnValue(join(ROOT, 'docs', 'images'));
  expect(suggested([])).toBe('../../bin/drawbridge.mjs status');
  here.mockReturnValue(
    '/far/away/from/any/clone/in/some/folder/of/its/own/in/a/deep/place/of/its/own',
  );
  expect(suggested([])).toBe(`${PROGRAM} status`);
});

test('names the folder of the person, and not the one in which npm runs a script', () => {
  vi.stubEnv('npm_lifecycle_event', 'start');
  vi.stubEnv('INIT_CWD', join(ROOT, 'docs'));
  expect(suggested([])).toBe('../bin/drawbridge.mjs status');
  vi.spyOn(process, 'cwd').mockReturnValue(join(ROOT, 'cli'));
  expect(suggested([])).toBe('../bin/drawbridge.mjs status');
});

test('puts the program into messages that name the command', () => {
  vi.stubEnv('PATH', '');
  const message = 'It does not answer: `drawbridge stop` ends it, `drawbridge start` begins anew.';
  expect(asTyped(message)).toBe(
    'It does not answer: `bin/drawbridge.mjs stop` ends it, `bin/drawbridge.mjs start` begins anew.',
  );
});

test('every error and notice that reaches a terminal names what can be typed there', () => {
  vi.stubEnv('PATH', '');
  const message = 'Do `drawbridge check` first.';
  const typed = 'Do `bin/drawbridge.mjs check` first.';
  const refused = new ClientError('DAMAGED', message, { status: 500 });
  expect(describeError(refused)).toContain(typed);
  expect(describeFailure(refused)).toContain(typed);
  expect(describeFailure(new LocalError('failed', message))).toBe(typed);
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  printErr(`${message}\n`);
  complain(message);
  expect(stderr.mock.calls).toEqual([[`${typed}\n`], [`drawbridge: ${typed}\n`]]);
});

/** Where texts are made that a terminal shows and that know no shell. */
const ELSEWHERE = ['bridge', 'local', 'machine', 'worker'];

test('texts from elsewhere set each command in backticks, by which a terminal knows it', () => {
  const bare: string[] = [];
  for (const path of sourceFiles()) {
    if (!ELSEWHERE.some((folder) => path.startsWith(`${folder}/`))) continue;
    const source = readFileSync(join(ROOT, path), 'utf8').replaceAll(
      /\/\*[\s\S]*?\*\/|\/\/.*/g,
      '',
    );
    for (const [words] of source.matchAll(/(?<!command: ')(?<![`.\w])drawbridge [a-z]+/g))
      bare.push(`${path}: ${words}`);
  }
  expect(bare).toEqual([]);
});

function suggested(path: readonly string[]): string {
  vi.stubEnv('PATH', path.join(':'));
  return ownCommand('status');
}

function folderWithProgram(name: string): string {
  const folder = join(temporaryFolder(), name);
  mkdirSync(folder, { recursive: true });
  symlinkSync(PROGRAM, join(folder, 'drawbridge'));
  return folder;
}
