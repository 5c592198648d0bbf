import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newProgram } from '../../../cli/commands.ts';
import { examplesOf } from '../../../cli/help/examples.ts';
import { TOPICS } from '../../../cli/help/topics.ts';
import { OWN_PROGRAMS } from '../../../cli/main.ts';
import { dottedFields } from '../../../local/config/json-schema.ts';
import { callDrawbridge } from '../called.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

type Command = ReturnType<typeof newProgram>;

/** Every command that does something, by its words: no group, no hidden command, no `help` of a group. */
function leavesOf(command: Command, above: readonly string[] = []): [string, Command][] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((sub) => command.commands.includes(sub))
    .flatMap((sub) => {
      const path = [...above, sub.name()];
      return sub.commands.length > 0
        ? leavesOf(sub, path)
        : [[path.join(' '), sub] as [string, Command]];
    });
}

const leaves = leavesOf(newProgram(OWN_PROGRAMS));

describe('the help of a command', () => {
  test.each(leaves)('%s has a description, exit codes and examples', (path, command) => {
    let text = '';
    command.configureOutput({ writeOut: (piece) => (text += piece) }).outputHelp();
    expect(command.description()).not.toBe('');
    expect(text.match(/Exit codes:/g)).toHaveLength(1);
    expect(text).toContain(`Examples:\n  drawbridge ${examplesOf(path, command)[0] ?? '-'}\n`);
    expect(text).toContain('drawbridge help files');
  });

  test.each(
    leaves.flatMap(([path, command]) => examplesOf(path, command).map((line) => [line, path])),
  )('%s can be typed', (line, path) => {
    const program = newProgram(OWN_PROGRAMS);
    let ran = '';
    for (const [name, command] of leavesOf(program)) {
      command.configureOutput({ writeErr: () => {} }).action(() => {
        ran = name;
      });
    }
    program.parse(wordsIn(line), { from: 'user' });
    expect(ran).toBe(path);
  });
});

/** As a shell takes a line apart: quotes, and what goes into a file. */
function wordsIn(line: string): string[] {
  const words = line.replace(/ > \S+$/, '').match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  return words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
}

describe('help', () => {
  test.each([
    [['help'], 'More pages, by drawbridge help TOPIC:\n  files'],
    [['--help'], 'More pages, by drawbridge help TOPIC:\n  files'],
    [['help', 'config', 'set'], 'Usage: drawbridge config set [options] <key> <value>'],
    [['help', 'files'], TOPICS['files']?.text ?? ''],
    [['help', 'exit-codes'], '141  the reader of the output exited'],
  ])('%j', async (args, text) => {
    expect(await callDrawbridge(args)).toEqual({
      code: 0,
      stdout: expect.stringContaining(text),
      stderr: '',
    });
  });

  test.each([
    [
      ['help', 'nonsense'],
      /there is no help on 'nonsense': use one of (?!.*bridge-host).*up, .*files, environment, exit-codes\n$/,
    ],
    [['help', 'config', 'nonsense'], /there is no help on 'nonsense': use one of get, set, /],
    [['help', 'cha'], /there is no help on 'cha': did you mean chat\?\n$/],
    [['help', 'config', 'sett'], /there is no help on 'sett': did you mean set\?\n$/],
    [['statsu'], /^drawbridge: unknown command 'statsu' of drawbridge: did you mean status\?\n$/],
    [['nonsense'], /^drawbridge: unknown command 'nonsense' of drawbridge: use one of here, /],
    [['worktrees', 'remov'], /unknown command 'remov' of worktrees: did you mean remove\?\n$/],
  ])('%j is refused', async (args, why) => {
    expect(await callDrawbridge(args)).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(why),
    });
  });
});

test('the page on the environment has every variable of ours, and every one of the settings', () => {
  const text = TOPICS['environment']?.text ?? '';
  const sources = ['cli', 'local', 'bridge', 'machine'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
  );
  const ours = new Set(
    sources.flatMap((source) => source.match(/\bDRAWBRIDGE_[A-Z_]*[A-Z]\b/g) ?? []),
  );
  expect([...ours].filter((name) => !text.includes(name))).toEqual([]);
  const page = readFileSync(join(ROOT, 'docs', 'configuration.md'), 'utf8');
  const rows = dottedFields().flatMap((name) => {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\``));
    return row?.match(/`([A-Z_]{4,})`/)?.[1] ?? [];
  });
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter((name) => !text.includes(name))).toEqual([]);
});
