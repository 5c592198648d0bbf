import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { runDrawbridge, startDrawbridge } from './drawbridge.ts';

const ROOT = join(import.meta.dirname, '..', '..');

describe('the program', () => {
  test('runs from a bundle, which the next start finds', async () => {
    const project = newProject();
    expect(await project.run()).toBe('one .js\n');
    const [bundle = ''] = project.bundles();
    const built = statSync(join(bundle, 'main.js')).mtimeMs;
    expect(await project.run()).toBe('one .js\n');
    expect(project.bundles()).toEqual([bundle]);
    expect(statSync(join(bundle, 'main.js')).mtimeMs).toBe(built);
  });

  test('is the changed one after a change that leaves size and time of a file as they were', async () => {
    const project = newProject();
    await project.run();
    const { atime, mtime } = statSync(project.words);
    writeFileSync(project.words, wordsOf('two'));
    utimesSync(project.words, atime, mtime);
    expect(await project.run()).toBe('two .js\n');
  });

  test('is built by several first starts at once', async () => {
    const project = newProject();
    const outputs = await Promise.all(Array.from({ length: 4 }, () => project.run()));
    expect(outputs).toEqual(Array(4).fill('one .js\n'));
    expect(project.bundles()).toHaveLength(1);
  });

  test('runs from its sources where no bundle can be kept', async () => {
    const project = newProject();
    writeFileSync(join(project.root, '.build'), 'not a folder');
    expect(await project.run()).toBe('one .ts\n');
  });

  test('that does not compile is told by Node, with the place', async () => {
    const project = newProject();
    writeFileSync(project.words, 'export const words = ;');
    const { code, stderr } = await runDrawbridge([], { program: project.program });
    expect(code).not.toBe(0);
    expect(stderr).toContain('words.ts');
  });

  test('leaves no bundle of older sources behind but one that a process uses', async () => {
    const project = newProject();
    await project.run();
    const [unused = ''] = project.bundles();
    writeFileSync(project.words, wordsOf('used'));
    const running = startDrawbridge(['stay'], { program: project.program });
    await running.firstLine;
    const used = project.bundles().find((dir) => dir !== unused) ?? '';
    const long = new Date(Date.now() - 2 * 60 * 60 * 1000);
    for (const dir of [unused, used]) utimesSync(dir, long, long);
    writeFileSync(project.words, wordsOf('new'));
    expect(await project.run()).toBe('new .js\n');
    expect([existsSync(unused), existsSync(used)]).toEqual([false, true]);
    running.process.kill('SIGKILL');
  });
});

function wordsOf(words: string): string {
  return `export const words: string = '${words}';`;
}

/** The real launcher with a program that tells what its source says and where it runs from. */
function newProject() {
  const root = temporaryFolder();
  cpSync(join(ROOT, 'bin'), join(root, 'bin'), { recursive: true });
  mkdirSync(join(root, 'cli'));
  writeFileSync(join(root, 'package.json'), '{"type": "module"}');
  const words = join(root, 'cli', 'words.ts');
  writeFileSync(words, wordsOf('one'));
  writeFileSync(join(root, 'cli', 'main.ts'), PROGRAM);
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const program: [string, string] = [process.execPath, join(root, 'bin', 'drawbridge.mjs')];
  const cache = join(root, '.build', 'cli');
  return {
    ...{ root, words, program },
    run: async () => (await runDrawbridge([], { program })).stdout,
    bundles: () => readdirSync(cache).map((name) => join(cache, name)),
  };
}

const PROGRAM = `
import { extname } from 'node:path';
import { words } from './words.ts';
export async function main([stay]) {
  console.log(words, extname(import.meta.url));
  if (stay) setInterval(() => {}, 1_000_000);
}`;
