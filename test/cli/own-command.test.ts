import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { ownCommand } from '../../cli/terminal/own-command.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'bin', 'drawbridge.mjs');

afterEach(() => {
  vi.unstubAllEnvs();
});

test('suggests commands that work in the shell: installed, run by npx, and neither', () => {
  const installed = folderWithProgram('bin');
  const byNpx = folderWithProgram('node_modules/.bin');
  expect(suggested([installed])).toBe('drawbridge status');
  expect(suggested([byNpx])).toMatch(/^node \/.*bin\/drawbridge\.mjs status$/);
  vi.spyOn(process, 'cwd').mockReturnValue(join(byNpx, '..', '..', 'src'));
  expect(suggested([byNpx])).toBe('npx drawbridge status');
  expect(suggested([byNpx, installed])).toBe('drawbridge status');
  expect(suggested([])).toMatch(/^node \/.*bin\/drawbridge\.mjs status$/);
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
