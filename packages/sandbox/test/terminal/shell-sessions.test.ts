import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { TERMINAL_LIMITS } from '../../terminal/limits.ts';
import {
  parseShellReport,
  readShellReport,
  reportingScript,
  type ShellReport,
} from '../../terminal/shell-report.ts';
import { lineIn, ShellSessions } from '../../terminal/shell-sessions.ts';
import { plainLaunch, run } from './plain-launch.ts';

const ODD = ['', ' ', "it's", '"$HOME"', '`id`', '$(id)', 'a\nb', '\\', '-n', '🌉', '\t;&|<>*?[~#'];

describe('the session of a shell', () => {
  test('sets its variables to exactly their values, whatever is in them', async () => {
    const values = ODD.map((value, at) => [`ODD_${at}`, value] as const);
    const session = { folder: undefined, variables: new Map([...values, ['HOME', null] as const]) };
    const { output } = await run(plainLaunch(lineIn(session, '/usr/bin/env -0')));
    const seen = new Set(output.split('\0'));
    expect(values.filter(([name, value]) => !seen.has(`${name}=${value}`))).toEqual([]);
    expect(output).not.toMatch(/(?:^|\0)HOME=/);
  });

  test('keeps its variables where new ones are too long, and forgets the oldest conversation', () => {
    const sessions = new ShellSessions();
    const take = (id: string, value: string) =>
      sessions.take(id, sessions.of(id), reported({ A: value }), '/');
    take('first', '1');
    const long = take('first', 'x'.repeat(TERMINAL_LIMITS.maxSessionChars));
    expect(long.session.variables.get('A')).toBe('1');
    expect(long.unkept).toMatch(/^Not kept for your next command: A\b/);
    for (let at = 0; at < TERMINAL_LIMITS.maxSessions; at++) take(`conv_${at}`, '2');
    expect(sessions.of('first')).toEqual({ folder: undefined, variables: new Map() });
  });

  test('begins in the workspace where its folder is gone', () => {
    const sessions = new ShellSessions();
    sessions.take('one', sessions.of('one'), reported({}), '/nowhere');
    expect(sessions.of('one').folder).toBeUndefined();
  });

  test.each([
    ['that are not listed', { variables: undefined, unreadable: [] }],
    ['that is no text', { variables: new Map([['B', '2']]), unreadable: ['A'] }],
  ])('keeps its variables, and says so, where it is left with some %s', (_, left) => {
    const sessions = new ShellSessions();
    const before = sessions.take('one', sessions.of('one'), reported({ A: '1' }), '/').session;
    const { session, unkept } = sessions.take('one', before, { folder: '/', ...left }, '/');
    expect(session.variables.get('A')).toBe('1');
    expect(unkept).toMatch(/ kept for your next command: /);
  });
});

function reported(variables: Readonly<Record<string, string | null>>): ShellReport {
  return { folder: '/', variables: new Map(Object.entries(variables)), unreadable: [] };
}

describe('the report of a shell', () => {
  const report = async (line: string) => {
    // The report as output, and nothing else.
    const script = reportingScript(3);
    const launch = plainLaunch('');
    const args = [
      '-c',
      'exec 3>&1; exec /bin/bash -c "$0" bash "$1" >/dev/null 2>&1',
      script,
      line,
    ];
    return parseShellReport((await run({ ...launch, file: '/bin/sh', args })).output, launch.env);
  };

  test.each([
    ['cd /usr && export A=1 B="x y"; unset LANG; C=3; export PWD', '/usr', { A: '1', B: 'x y' }],
    ['set -eu -f; IFS=0123456789; export A=2; false || true', '/', { A: '2' }],
    ['env() { echo "$@"; }; printf() { :; }; PATH=; export A=3', '/', { A: '3', PATH: '' }],
    ['(cd /usr; export A=4)', '/', {}],
    ['export A="=\n\n"; "unknown command" 2>/dev/null', '/', { A: '=\n\n' }],
  ])('has what %j has left', async (line, folder, variables) => {
    const seen = await report(line);
    expect({ ...seen, variables: Object.fromEntries(seen?.variables ?? []) }).toEqual({
      folder,
      variables: expect.objectContaining(variables),
      unreadable: [],
    });
  });

  /** Each makes the program fail that lists the variables: at its start, or while it runs. */
  test.each([
    'export A=$(head -c 140000 /dev/zero | tr "\\0" x)',
    'for at in {1..30}; do export A$at=$(head -c 100000 /dev/zero | tr "\\0" x); done',
    'ulimit -v 1000',
    'mkdir "$D/lib"; echo >"$D/lib/libc.so.6"; export LD_LIBRARY_PATH="$D/lib"',
    'unset PATH',
  ])('has no variables after %j', async (line) => {
    const folder = await mkdtemp(join(tmpdir(), 'shell-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const named = `D=${folder}; cd /usr; export B=2; ${line}; (exit 3)`;
    expect(await report(named)).toEqual({ folder: '/usr', variables: undefined, unreadable: [] });
  });

  test('has all variables or none where the program that lists them is killed', async () => {
    const seen = await report('cd /usr; export B=2; ulimit -t 0');
    if (seen?.variables) expect(seen.variables).toEqual(new Map([['B', '2']]));
  });

  test('has no variables, however soon it is cut', () => {
    const whole = '/usr\n\0PATH=/bin\0A=2\0HOME=/root\0\0';
    const cuts = Array.from(whole, (_, end) =>
      parseShellReport(whole.slice(0, end), { HOME: '/' }),
    );
    expect(cuts.map((cut) => cut?.variables)).toEqual(cuts.map(() => undefined));
    expect(cuts.filter(Boolean).map((cut) => cut?.folder)).toEqual(
      Array.from(whole.slice('/usr\n\0'.length), () => '/usr'),
    );
  });

  test('has no variables where it is too long', async () => {
    const long = 'x'.repeat(TERMINAL_LIMITS.maxReportChars);
    const read = readShellReport(Readable.from([`/usr\n\0PATH=/bin\0A=${long}\0\0`]));
    expect(await read()).toEqual({ folder: '/usr', variables: undefined, unreadable: [] });
  });

  test('leaves the line its own line numbers', async () => {
    const { output } = await run({
      ...plainLaunch(''),
      file: '/bin/bash',
      args: ['-c', `exec 2>&1; ${reportingScript(3)}`, 'bash', 'cd /\n(nothing)'],
    });
    expect(output).toContain('line 2: nothing: command not found');
  });

  test.each(['export A=1; exit 3', 'export A=1; exec true', 'kill -9 $$'])(
    'is none after %j, which ends the shell itself',
    async (line) => {
      expect(await report(line)).toBeUndefined();
    },
  );

  test.each(['', '\0', '/usr\n', 'usr\n\0PATH=\0\0', '/usr\0PATH=\0\0', 'x'.repeat(99)])(
    'is none in %j',
    (text) => {
      expect(parseShellReport(text, {})).toBeUndefined();
    },
  );

  test('has no name that is none of a variable, and no value that is no text', () => {
    const text = '/\n\0PATH=\0A=1\0B=\uFFFD\0BASH_FUNC_f%%=() { x; }\0C=2\0nothing\0\0';
    expect(parseShellReport(text, { A: '1', B: '1', PATH: '' })).toEqual({
      folder: '/',
      variables: new Map([['C', '2']]),
      unreadable: ['B'],
    });
  });
});
