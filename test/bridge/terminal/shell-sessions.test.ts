import { describe, expect, test } from 'vitest';
import { TERMINAL_LIMITS } from '../../../bridge/terminal/limits.ts';
import { parseShellReport, reportingScript } from '../../../bridge/terminal/shell-report.ts';
import { lineIn, ShellSessions } from '../../../bridge/terminal/shell-sessions.ts';
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
      sessions.take(id, sessions.of(id), { folder: '/', variables: new Map([['A', value]]) }, '/');
    take('first', '1');
    expect(take('first', 'x'.repeat(TERMINAL_LIMITS.maxSessionChars)).variables.get('A')).toBe('1');
    for (let at = 0; at < TERMINAL_LIMITS.maxSessions; at++) take(`conv_${at}`, '2');
    expect(sessions.of('first')).toEqual({ folder: undefined, variables: new Map() });
  });

  test('begins in the workspace where its folder is gone', () => {
    const sessions = new ShellSessions();
    const report = { folder: '/nowhere', variables: new Map() };
    sessions.take('one', sessions.of('one'), report, '/nowhere');
    expect(sessions.of('one').folder).toBeUndefined();
  });
});

describe('the report of a shell', () => {
  const report = async (line: string) => {
    // The report as output, and nothing else: the line prints nothing.
    const script = reportingScript(3);
    const launch = plainLaunch('');
    const args = ['-c', 'exec 3>&1; exec /bin/bash -c "$0" bash "$1" 2>&1', script, line];
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
    });
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

  test.each([
    '',
    '\0',
    '/usr\n\0',
    '/usr\n\0A=2\0',
    'usr\n\0A=2\0\0',
    '/usr\0A=2\0\0',
    'x'.repeat(99),
  ])('is none in %j', (text) => {
    expect(parseShellReport(text, {})).toBeUndefined();
  });

  test('has no name that is none of a variable, and no value that is no text', () => {
    const text = '/\n\0A=1\0B=\uFFFD\0BASH_FUNC_f%%=() { x; }\0C=2\0nothing\0\0';
    expect(parseShellReport(text, { A: '1' })?.variables).toEqual(new Map([['C', '2']]));
  });
});
