import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../local/temporary-folder.ts';
import { runDrawbridge, startDrawbridge } from './drawbridge.ts';
import { HAS_TERMINALS, openPseudoTerminal } from './pseudo-terminal.ts';

const ROOT = join(import.meta.dirname, '..', '..');

describe('the program of a clone', () => {
  test('runs from a copy outside, which the next start finds', async () => {
    const project = newProject();
    expect(await project.run()).toBe('one .js\n');
    const [copy = ''] = project.copies();
    const main = join(copy, 'dist', 'cli', 'main.js');
    const built = statSync(main).mtimeMs;
    expect(await project.run()).toBe('one .js\n');
    expect(project.copies()).toEqual([copy]);
    expect(statSync(main).mtimeMs).toBe(built);
  });

  test.runIf(HAS_TERMINALS)('says at a terminal that it is prepared, once', async () => {
    const { options } = newProject();
    const start = async () => {
      const terminal = openPseudoTerminal(options.program, options);
      await terminal.finished;
      return terminal.screen();
    };
    expect(await start()).toMatch(/^Preparing the program, which .*\.\r?\none \.js\r?\n$/);
    expect(await start()).toMatch(/^one \.js\r?\n$/);
  });

  test('brings what it starts, and no other user may read the copy', async () => {
    const project = newProject();
    await project.run();
    const [copy = ''] = project.copies();
    const programs = ['@vscode/ripgrep', 'workerd'].map((name) =>
      createRequire(join(copy, 'bin', 'drawbridge.mjs')).resolve(name),
    );
    const inside = realpathSync(project.programs);
    expect(programs.filter((path) => !realpathSync(path).startsWith(inside))).toEqual([]);
    expect(statSync(project.programs).mode & 0o777).toBe(0o700);
    expect(
      await runDrawbridge([], { program: [process.execPath, join(copy, 'bin/drawbridge.mjs')] }),
    ).toMatchObject({
      stdout: 'one .js\n',
    });
    expect(project.copies()).toEqual([copy]);
  });

  test.each([
    ['that others may write to', (folder: string) => chmodSync(folder, 0o777)],
    [
      'below a file',
      (folder: string) => {
        rmdirSync(folder);
        writeFileSync(folder, '');
      },
    ],
  ])('runs from its sources where copies would lie in a folder %s', async (_, spoil) => {
    const project = newProject();
    mkdirSync(project.programs);
    spoil(project.programs);
    expect(await project.run()).toBe('one .ts\n');
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
    expect(project.copies()).toHaveLength(1);
  });

  test('that does not compile is reported by Node, with the place', async () => {
    const project = newProject();
    writeFileSync(project.words, 'export const words = ;');
    const { code, stderr } = await runDrawbridge([], project.options);
    expect(code).not.toBe(0);
    expect(stderr).toContain('words.ts');
  });

  test('leaves no copy of older sources behind but one that a process uses, or the service', async () => {
    const project = newProject();
    await project.run();
    const [unused = ''] = project.copies();
    writeFileSync(project.words, wordsOf('used'));
    const running = startDrawbridge(['stay'], project.options);
    await running.firstLine;
    const used = project.copies().find((dir) => dir !== unused) ?? '';
    const long = new Date(Date.now() - 2 * 60 * 60 * 1000);
    for (const dir of [unused, used]) utimesSync(dir, long, long);
    writeFileSync(project.words, wordsOf('new'));
    expect(await project.run()).toBe('new .js\n');
    expect([existsSync(unused), existsSync(used)]).toEqual([false, true]);
    running.process.kill('SIGKILL');
    const [kept = ''] = project.copies().filter((dir) => dir !== used);
    writeFileSync(join(kept, 'kept'), '');
    await running.finished;
    for (const dir of [used, kept]) utimesSync(dir, long, long);
    writeFileSync(project.words, wordsOf('newest'));
    expect(await project.run()).toBe('newest .js\n');
    expect([existsSync(used), existsSync(kept)]).toEqual([false, true]);
  });
});

function wordsOf(words: string): string {
  return `export const words: string = '${words}';`;
}

/** The real launcher with a program that prints what its source says and where it runs from. */
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
  const programs = join(temporaryFolder(), 'programs');
  const options = { program, env: { DRAWBRIDGE_PROGRAMS: programs } };
  const cache = join(programs, 'program');
  return {
    root,
    words,
    options,
    programs,
    run: async () => (await runDrawbridge([], options)).stdout,
    copies: () => readdirSync(cache).map((name) => join(cache, name)),
  };
}

const PROGRAM = `
import { extname } from 'node:path';
import { words } from './words.ts';
export async function main([stay]) {
  console.log(words, extname(import.meta.url));
  if (stay) setInterval(() => {}, 1_000_000);
}`;

describe('the package', () => {
  test.each([
    ['among those of a project', { 'package.json': '{}' }, 1],
    ['that is installed globally', {}, 0],
  ])('%s runs from %j', async (_, files, copies) => {
    const folder = temporaryFolder();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const root = join(folder, 'node_modules', 'drawbridge-agent');
    mkdirSync(join(root, 'dist', 'cli'), { recursive: true });
    cpSync(join(ROOT, 'bin'), join(root, 'bin'), { recursive: true });
    writeFileSync(join(root, 'package.json'), '{"type": "module"}');
    writeFileSync(join(root, 'dist', 'cli', 'main.js'), PACKAGED);
    for (const name of ['@vscode', 'workerd', '@cloudflare']) {
      symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
    }
    const programs = join(temporaryFolder(), 'programs');
    const { stdout } = await runDrawbridge([], {
      program: [process.execPath, join(root, 'bin', 'drawbridge.mjs')],
      env: { DRAWBRIDGE_PROGRAMS: programs },
    });
    const made = existsSync(programs) ? readdirSync(join(programs, 'program')) : [];
    expect(made).toHaveLength(copies);
    expect(stdout).toContain(copies === 1 ? programs : root);
  });
});

const PACKAGED = 'export function main() { console.log(import.meta.url); }';
