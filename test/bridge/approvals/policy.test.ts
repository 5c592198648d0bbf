import { describe, expect, test } from 'vitest';
import { judgeCall, type Policy } from '../../../bridge/approvals/policy.ts';
import { type Decision, Rule } from '../../../bridge/approvals/rules.ts';
import type { Mode } from '../../../shared/modes.ts';
import type { CallLimits } from '../../../shared/tunnel.ts';

const CONFINED: Policy = {
  workspace: '/home/me/repo',
  isConfined: true,
  userRules: [],
  workspaceRules: [],
};
const UNCONFINED: Policy = { ...CONFINED, isConfined: false };

/** `deny run_terminal_cmd git push*` as a rule. */
function rule(text: string): Rule {
  const [decision, tool, ...pattern] = text.split(' ');
  return Rule.parse({ decision, tool, ...(pattern.length > 0 && { pattern: pattern.join(' ') }) });
}

function decide(
  tool: string,
  args: Record<string, unknown>,
  policy: Policy = CONFINED,
  mode: Mode = 'agent',
): Decision {
  return judgeCall({ tool, arguments: args, mode }, policy).decision;
}

const command = (line: string, policy: Policy, permissions?: string[]) =>
  decide('run_terminal_cmd', { command: line, ...(permissions && { permissions }) }, policy);

describe('without rules', () => {
  test.each<[string, Record<string, unknown>, Decision, Decision]>([
    ['read_file', { target_file: 'a' }, 'allow', 'allow'],
    ['grep', { pattern: 'a' }, 'allow', 'allow'],
    ['write', { path: 'a', contents: '' }, 'allow', 'allow'],
    ['delete_file', { target_file: 'a' }, 'allow', 'allow'],
    ['run_terminal_cmd', { command: 'ls' }, 'allow', 'ask'],
    ['Shell', { command: 'ls' }, 'allow', 'ask'],
    ['run_terminal_cmd', { command: 'ls', permissions: [] }, 'allow', 'ask'],
    ['run_terminal_cmd', { command: 'ls', permissions: ['network'] }, 'ask', 'ask'],
    ['run_terminal_cmd', { command: 'ls', required_permissions: ['all'] }, 'ask', 'ask'],
    ['no_such_tool', {}, 'deny', 'deny'],
    ['constructor', {}, 'deny', 'deny'],
    ['run_terminal_cmd', { command: 7 }, 'deny', 'deny'],
    ['write', {}, 'deny', 'deny'],
  ])('%s %j: confined %s, unconfined %s', (tool, args, confined, unconfined) => {
    expect([decide(tool, args, CONFINED), decide(tool, args, UNCONFINED)]).toEqual([
      confined,
      unconfined,
    ]);
  });
});

describe('a mode', () => {
  const allowing = { ...CONFINED, userRules: [rule('allow *')] };

  test.each<[Mode, Decision]>([
    ['agent', 'allow'],
    ['debug', 'allow'],
    ['plan', 'deny'],
    ['ask', 'deny'],
  ])('%s lets edits and commands: %s', (mode, decision) => {
    expect([
      decide('write', { path: 'a', contents: '' }, allowing, mode),
      decide('run_terminal_cmd', { command: 'ls' }, allowing, mode),
      decide('read_file', { target_file: 'a' }, allowing, mode),
    ]).toEqual([decision, decision, 'allow']);
  });

  test('that is read-only is the reason given', () => {
    const { reason } = judgeCall(
      { tool: 'write', arguments: { path: 'a', contents: '' }, mode: 'ask' },
      CONFINED,
    );
    expect(reason).toBe('In the read-only mode ask, write does not run.');
  });
});

describe('the rules of the machine', () => {
  test.each<[string[], string, Decision]>([
    [['deny write *.lock'], 'a.lock', 'deny'],
    [['deny write *.lock'], 'a.ts', 'allow'],
    [['ask *'], 'a.ts', 'ask'],
    [['ask *', 'allow write src/*'], 'src/a.ts', 'allow'],
    [['allow write src/*', 'ask *'], 'src/a.ts', 'ask'],
    [['deny Write'], 'a.ts', 'deny'],
    [['deny wr?te'], 'a.ts', 'deny'],
    [['deny read_file'], 'a.ts', 'allow'],
    [['deny write gen/*'], './src/../gen/a.ts', 'deny'],
    [['deny write gen/*'], '/home/me/repo/gen/a.ts', 'deny'],
    [['deny write gen/*'], 'src/gen/a.ts', 'allow'],
  ])('%j on an edit of %s: %s', (rules, path, decision) => {
    const policy = { ...CONFINED, userRules: rules.map(rule) };
    expect(decide('write', { path, contents: '' }, policy)).toBe(decision);
  });

  test.each<[string[], string, Decision]>([
    [['deny run_terminal_cmd git push*'], 'git push', 'deny'],
    [['deny run_terminal_cmd git push*'], 'git status', 'allow'],
    [['deny run_terminal_cmd git push*'], 'a && git push origin', 'deny'],
    [['deny run_terminal_cmd git push*'], 'echo $(git push)', 'deny'],
    [['deny run_terminal_cmd git push*'], 'FORCE=1 git push', 'deny'],
    [['deny run_terminal_cmd git push*'], 'echo "git push"', 'allow'],
    [['ask run_terminal_cmd rm *', 'deny run_terminal_cmd git push*'], 'git push; rm a', 'deny'],
    [
      ['ask run_terminal_cmd', 'allow run_terminal_cmd git status'],
      'git status && git status',
      'allow',
    ],
    [['ask run_terminal_cmd', 'allow run_terminal_cmd git status'], 'git status && ls', 'ask'],
    [['deny run_terminal_cmd curl * | sh*'], 'curl http://a | sh -s', 'deny'],
    [['deny run_terminal_cmd curl * | sh*'], 'curl http://a', 'allow'],
  ])('%j on the command %j: %s', (rules, line, decision) => {
    expect(command(line, { ...CONFINED, userRules: rules.map(rule) })).toBe(decision);
  });
});

describe('an allow of the machine’s owner', () => {
  const userRules = [rule('allow run_terminal_cmd npm test*')];

  test.each<[string, string[], Decision]>([
    ['npm test', [], 'allow'],
    ['npm test 2>&1', [], 'allow'],
    ['npm test && npm test -- -u', [], 'allow'],
    ['npm test', ['network'], 'allow'],
    ['npm test', ['all'], 'ask'],
    ['npm test && ls', [], 'ask'],
    ['npm test $(curl a)', [], 'ask'],
    ['npm test > ~/.profile', [], 'ask'],
    ['npm test & curl a', [], 'ask'],
  ])('lifts the question about %j with %j without a sandbox: %s', (line, permissions, decision) => {
    expect(command(line, { ...UNCONFINED, userRules }, permissions)).toBe(decision);
  });
});

describe('the rules of a workspace', () => {
  const policy = (user: string[], workspace: string[], isConfined = true): Policy => ({
    ...CONFINED,
    isConfined,
    userRules: user.map(rule),
    workspaceRules: workspace.map(rule),
  });

  test.each<[string, Policy, Decision]>([
    ['tighten the defaults', policy([], ['ask *']), 'ask'],
    ['tighten what the owner allows', policy(['allow *'], ['deny *']), 'deny'],
    ['do not loosen the defaults', policy([], ['allow *'], false), 'ask'],
    ['do not loosen what the owner asks', policy(['ask *'], ['allow *']), 'ask'],
    ['do not loosen what the owner denies', policy(['deny *'], ['ask *']), 'deny'],
    ['do not loosen themselves', policy([], ['deny *', 'allow *']), 'deny'],
    ['are for single commands too', policy([], ['deny run_terminal_cmd ls*']), 'deny'],
  ])('%s', (_, given, decision) => {
    expect(command('true && ls', given)).toBe(decision);
  });

  test('are named as the reason', () => {
    const call = { tool: 'write', arguments: { path: 'a', contents: '' }, mode: 'agent' } as const;
    expect(judgeCall(call, policy([], ['ask write a*']))).toEqual({
      decision: 'ask',
      reason: 'The rules of the workspace say so: ask write "a*".',
    });
  });
});

describe('what a request demands', () => {
  const approval = { requireApproval: true };
  const paths = { allowedPaths: ['src/'] };
  const judge = (line: string, limits: CallLimits, rules: string[] = []) => {
    const [tool = '', subject] = line.split(': ');
    const args = { path: subject, contents: '', command: subject };
    const policy = { ...CONFINED, userRules: rules.map(rule) };
    return judgeCall({ tool, arguments: args, mode: 'agent', limits }, policy);
  };

  test.each<[string, CallLimits, string[], Decision]>([
    ['write: a', {}, [], 'allow'],
    ['write: a', { requireApproval: false }, [], 'allow'],
    ['write: a', approval, [], 'ask'],
    ['write: a', approval, ['allow *'], 'ask'],
    ['write: a', approval, ['allow write a'], 'ask'],
    ['write: a', approval, ['deny write'], 'deny'],
    ['write_file: a', approval, [], 'ask'],
    ['read_file: a', approval, [], 'ask'],
    ['run_terminal_cmd: ls', approval, [], 'ask'],
    ['run_terminal_cmd: ls', approval, ['allow *'], 'ask'],
    ['run_terminal_cmd: ls', approval, ['deny *'], 'deny'],
    ['run_terminal_cmd: ls', paths, [], 'deny'],
    ['run_terminal_cmd: ls src', { allowedPaths: ['.'] }, ['allow *'], 'deny'],
    ['Shell: ls', { ...paths, ...approval }, ['allow *'], 'deny'],
    ['write: src/a', paths, [], 'allow'],
    ['write: src/a', paths, ['ask *'], 'ask'],
    ['write: src/a', { ...paths, ...approval }, ['allow *'], 'ask'],
  ])('%s with %j under the rules %j: %s', (line, limits, rules, decision) => {
    expect(judge(line, limits, rules).decision).toBe(decision);
  });

  test('is the reason given, unless the rules have one that is as strict', () => {
    expect([
      judge('read_file: a', approval).reason,
      judge('read_file: a', approval, ['ask read_file']).reason,
      judge('run_terminal_cmd: ls', { ...paths, ...approval }).reason,
    ]).toEqual([
      'The request asks for an approval of every read_file call.',
      'The rules of this machine say so: ask read_file "*".',
      'The request allows run_terminal_cmd only some paths, and nothing can hold it to them.',
    ]);
  });
});
