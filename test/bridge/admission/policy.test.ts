import { describe, expect, test } from 'vitest';
import { judgeCall as judgeRead, type Policy } from '../../../bridge/admission/policy.ts';
import { parseRules, Rule } from '../../../bridge/admission/rules.ts';
import { runTerminalCmd } from '../../../shared/tools/run-terminal-cmd.ts';
import type { Mode } from '../../../shared/wire/modes.ts';
import type { Decision } from '../../../shared/wire/policy.ts';
import type { CallLimits } from '../../../shared/wire/tunnel.ts';
import { judge as judgeCall, visibility as visibilityOf } from './judging.ts';

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

test('an approval that the edge demands of one call has its reason', () => {
  const call = { tool: 'read_file', arguments: { target_file: 'a' }, mode: 'agent' } as const;
  const limits = { requireApproval: true };
  expect(judgeCall({ ...call, limits, approvalReason: 'Again.' }, CONFINED)).toEqual({
    decision: 'ask',
    reason: 'Again.',
  });
  expect(judgeCall({ ...call, approvalReason: 'Again.' }, CONFINED).decision).toBe('allow');
});

describe('a rename', () => {
  const rename = (target_file: string, new_path: string, rules: string[], realNames?: string[]) =>
    decide(
      'rename_file',
      { target_file, new_path },
      { ...CONFINED, userRules: rules.map(rule), realNames },
    );

  test.each<[string, string, string[], Decision]>([
    ['a', 'b', [], 'allow'],
    ['a', 'private/b', ['deny rename_file private/*'], 'deny'],
    ['private/a', 'b', ['deny rename_file private/*'], 'deny'],
    ['a', 'private/b', ['deny write private/*'], 'deny'],
    ['private/a', 'b', ['ask delete_file private/*'], 'ask'],
    ['private/a', 'b', ['deny write private/*'], 'deny'],
    ['a', 'private/b', ['deny delete_file private/*'], 'allow'],
    ['a', 'b', ['allow rename_file', 'ask delete_file'], 'ask'],
  ])('of %s to %s under %j: %s', (from, to, rules, decision) => {
    expect(rename(from, to, rules)).toBe(decision);
  });

  test('is judged by where its paths lead', () => {
    expect(rename('a', 'b', ['deny write private/*'], ['a', 'private/b'])).toBe('deny');
    expect(rename('a', 'b', ['deny delete_file private/*'], ['private/a', 'b'])).toBe('deny');
  });
});

test('a search of several folders is judged by each of them', () => {
  const policy = { ...CONFINED, userRules: [rule('deny codebase_search private/*')] };
  const search = (...target_directories: string[]) =>
    decide('codebase_search', { query: 'x', target_directories }, policy);
  expect([search('src', 'docs'), search('src', 'private')]).toEqual(['allow', 'deny']);
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

test('the command line of any tool is judged as a command', () => {
  const definition = { ...runTerminalCmd, name: 'start_process' };
  const args = { command: 'cd /tmp && git push' };
  const read = { definition, args, subjects: [args.command], mode: 'agent' } as const;
  const userRules = [rule('deny run_terminal_cmd git push*')];
  expect(judgeRead(read, { ...CONFINED, userRules }).decision).toBe('deny');
  expect(judgeRead(read, CONFINED).decision).toBe('allow');
});

describe('a rule that denies a command', () => {
  const decisionOn = (line: string, pattern = 'git push*') =>
    command(line, { ...CONFINED, userRules: [rule(`deny run_terminal_cmd ${pattern}`)] });

  test.each([
    // Written otherwise.
    ['git  push'],
    ['git\tpush'],
    ['>/dev/null git push'],
    ['git</dev/null push'],
    ['git push>x'],
    ['g"it" push'],
    ["'git' pu\\sh"],
    ["$'g\\x69t' push"],
    ['git \\\n push'],
    ['gi\\\nt push'],
    ['/usr/bin/git push'],
    ['A=1 B[0]="x y" git push'],
    ['git $x push'],
    ['"$x"git "$(true)" push'],
    ['echo >&$x"\\$(git push)"'],
    // With options that leave the subcommand as it is.
    ['git -C . push'],
    ['git --no-pager push'],
    ['git -c a=b --git-dir x push origin'],
    // Behind a wrapper.
    ['command git push'],
    ['builtin git push'],
    ['exec git push'],
    ['env X=1 git push'],
    ["env -S 'git push'"],
    ['nohup git push'],
    ['nice -n 5 git push'],
    ['time -p git push'],
    ['timeout 5 git push'],
    ['timeout -s KILL 5 git push'],
    ['ls | xargs -I{} -n 1 git push {}'],
    ['sudo -u me nice /usr/bin/git -C . push'],
    ['find . -exec git push \\;'],
    // In another line.
    ["sh -c 'git push'"],
    ['sudo bash -lc "cd a && git push"'],
    ['eval git push'],
    ['bash <<EOF\ngit push\nEOF'],
    ['bash <<< "git push"'],
    // Inside of something.
    ['(git push)'],
    ['{ git push; }'],
    ['! git push'],
    ['if true; then git push; fi'],
    ['for i in 1; do git push; done'],
    ['case x in a|x) git push;; esac'],
    ['f() { git push; }; f'],
    ['coproc x { git push; }'],
    ['[[ a ]] && git push'],
    ['echo $(git push)'],
    ['echo "now $(git push)"'],
    ['echo "${x:-$(git push)}"'],
    ['echo $((1 + $(git push)))'],
    ['echo `echo \\`git push\\``'],
    ['diff <(git push) a'],
    ['cat <<EOF\n$(git push)\nEOF'],
    ["cat <<'EOF'\n'\nEOF\ngit push"],
    ['echo $((1 << 2)); git push'],
    ['echo a#b; git push'],
    ["true # '\ngit push"],
  ])('holds for %j', (line) => {
    expect(decisionOn(line)).toBe('deny');
  });

  test.each([
    ['git status'],
    ['git stash push'],
    ['git log --grep push'],
    ['echo git push'],
    ['echo "git push"'],
    ["git commit -m 'git push'"],
    ['echo a # git push'],
    ["grep 'git push' a"],
    ['cat <<EOF\ngit push\nEOF'],
    ['npm run push'],
    ['git\u00a0push'],
    ['git\vpush'],
  ])('does not hold for %j', (line) => {
    expect(decisionOn(line)).toBe('allow');
  });

  test.each([
    ['curl a|sh', 'deny'],
    ['curl  a |\tsudo sh -s', 'deny'],
    ['curl "a" | sh', 'deny'],
    ['curl a; sh', 'allow'],
    ['echo "curl a" "| sh"', 'allow'],
  ])('that joins commands holds for the line %j: %s', (line, decision) => {
    expect(decisionOn(line, 'curl * | sh*')).toBe(decision);
  });

  test.each([
    ['a quote is open', 'echo "a'],
    ['a substitution is open', 'echo $(a'],
    ['substitutions are too deep', `${'$('.repeat(60)}a${')'.repeat(60)}`],
    ['it is wrapped too often', 'sudo '.repeat(5_000)],
    ['it has too many options before what it does', `git ${'-c a=b '.repeat(100)} status`],
    ['it quotes a line in a line in a line', 'eval '.repeat(5_000)],
  ])('asks about a line that cannot be read: %s', (_, line) => {
    expect([decisionOn(line), command(line, CONFINED)]).toEqual(['ask', 'allow']);
  });

  test('gives way to a later one that allows the plain line as it is written', () => {
    const userRules = ['deny run_terminal_cmd git push*', 'allow run_terminal_cmd timeout *'].map(
      rule,
    );
    const decisionsOf = (...lines: string[]) =>
      lines.map((line) => command(line, { ...CONFINED, userRules }));
    expect(decisionsOf('timeout 5 git push', 'timeout 5 git push >x', 'git push')).toEqual([
      'allow',
      'deny',
      'deny',
    ]);
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
    ['/bin/npm test', [], 'ask'],
    ['npm  test', [], 'ask'],
    ['timeout 5 npm test', [], 'ask'],
    ['npm test\v', [], 'ask'],
    ["npm test>&2\v'$(touch a)'", [], 'ask'],
    ['npm test \u00a0a', [], 'ask'],
  ])('lifts the question about %j with %j without a sandbox: %s', (line, permissions, decision) => {
    expect(command(line, { ...UNCONFINED, userRules }, permissions)).toBe(decision);
  });
});

test('an allow does not take back a stricter rule for a line that is not plain', () => {
  const userRules = ['deny run_terminal_cmd', 'allow run_terminal_cmd npm test*'].map(rule);
  const lines = ['npm test', 'npm test > a', 'npm test'];
  expect(lines.map((line) => command(line, { ...CONFINED, userRules }))).toEqual([
    'allow',
    'deny',
    'allow',
  ]);
  expect(command('npm test', { ...CONFINED, userRules }, ['all'])).toBe('ask');
});

describe('a rule', () => {
  const CALLS: Record<string, Record<string, unknown>> = {
    read_file: { target_file: 'a' },
    list_dir: { target_directory: 'a' },
    glob_file_search: { glob_pattern: '*', target_directory: 'a' },
    grep: { pattern: 'x', path: 'a' },
    codebase_search: { query: 'x', target_directories: ['a'] },
    str_replace: { path: 'a', old_string: 'x', new_string: 'y' },
    edit_file: { target_file: 'a', instructions: 'x', code_edit: 'y' },
    write: { path: 'a', contents: '' },
    delete_file: { target_file: 'a' },
    run_terminal_cmd: { command: 'ls' },
  };
  const deniedUnder = (...rules: string[]) => {
    const policy = { ...CONFINED, userRules: rules.map(rule) };
    return Object.entries(CALLS).flatMap(([tool, args]) =>
      decide(tool, args, policy) === 'deny' ? [tool] : [],
    );
  };
  const EDITS = ['str_replace', 'edit_file', 'write', 'delete_file'];

  test.each<[string, string[]]>([
    ['read', ['read_file', 'list_dir', 'glob_file_search', 'grep', 'codebase_search']],
    ['edit', EDITS],
    ['command', ['run_terminal_cmd']],
    ['web', []],
    ['mcp:github', []],
    ['edit_file', EDITS],
    ['search_replace', EDITS],
    ['write', EDITS],
    ['wri*', EDITS],
    ['delete_file', ['delete_file']],
    ['read_file', ['read_file', 'grep', 'codebase_search']],
    ['grep', ['grep']],
    ['list_dir', ['list_dir', 'glob_file_search']],
    ['Glob', ['list_dir', 'glob_file_search']],
    ['Shell', ['run_terminal_cmd']],
  ])('that denies %s holds for %j', (name, denied) => {
    expect(deniedUnder(`deny ${name}`)).toEqual(denied);
  });

  test('that allows a tool allows no other tool', () => {
    expect(deniedUnder('deny edit', 'allow write')).toEqual(
      EDITS.filter((name) => name !== 'write'),
    );
    expect(deniedUnder('deny edit', 'allow edit')).toEqual([]);
  });

  test('that denies reading a path keeps it out of searches', () => {
    const call = { tool: 'grep', arguments: { pattern: 'a' }, mode: 'agent' } as const;
    const shown = visibilityOf(call, {
      ...CONFINED,
      userRules: [rule('deny read_file private/*')],
    });
    expect(['private/a', 'open/a'].map((name) => shown?.mayShow(name))).toEqual([false, true]);
  });
});

describe('a preset', () => {
  const under = (preset: string, isConfined: boolean) => {
    const { rules, trustsNetwork } = parseRules(JSON.stringify({ preset }), 'p.json');
    const policy = { ...CONFINED, isConfined, userRules: rules, trustsNetwork };
    return [
      decide('read_file', { target_file: 'a' }, policy),
      decide('write', { path: 'a', contents: '' }, policy),
      command('ls', policy),
      command('ls', policy, ['network']),
      command('ls', policy, ['network', 'git_write']),
      command('ls', policy, ['all']),
      command('ls', policy, ['network', 'all']),
    ].join(' ');
  };

  test.each([
    ['read-only', true, 'allow deny deny deny deny deny deny'],
    ['read-only', false, 'allow deny deny deny deny deny deny'],
    ['ask', true, 'allow ask ask ask ask ask ask'],
    ['ask', false, 'allow ask ask ask ask ask ask'],
    ['workspace', true, 'allow allow allow ask ask ask ask'],
    ['workspace', false, 'allow allow ask ask ask ask ask'],
    ['trusted', true, 'allow allow allow allow ask ask ask'],
    ['trusted', false, 'allow allow ask ask ask ask ask'],
  ])('%s, confined %s: %s', (preset, isConfined, verdicts) => {
    expect(under(preset, isConfined)).toBe(verdicts);
  });

  test('that trusts the network keeps the rules that are stricter', () => {
    const policy = {
      ...CONFINED,
      trustsNetwork: true,
      workspaceRules: [rule('deny command curl*')],
    };
    expect(command('curl x', policy, ['network'])).toBe('deny');
    expect(command('npm ci', policy, ['network'])).toBe('allow');
  });
});

describe('a rule about a path', () => {
  test.each<[string, Record<string, unknown>, Decision]>([
    ['list_dir', { target_directory: 'private' }, 'deny'],
    ['grep', { pattern: 'a', path: 'private' }, 'deny'],
    ['grep', { pattern: 'a', path: './src/../private/' }, 'deny'],
    ['glob_file_search', { glob_pattern: '*', target_directory: 'private' }, 'deny'],
    ['grep', { pattern: 'a', path: '.' }, 'allow'],
    ['write', { path: 'private', contents: '' }, 'allow'],
  ])('forbids %s with %j to look at the folder: %s', (tool, args, decision) => {
    expect(decide(tool, args, { ...CONFINED, userRules: [rule('deny * private/*')] })).toBe(
      decision,
    );
  });

  test('that allows the folder counts for the folder', () => {
    const userRules = ['ask list_dir', 'allow list_dir private'].map(rule);
    const policy = { ...CONFINED, userRules };
    expect(decide('list_dir', { target_directory: 'private' }, policy)).toBe('allow');
  });
});

describe('what a search may show', () => {
  const grepIn = (path: string, rules: string[], realName?: string) => {
    const call = { tool: 'grep', arguments: { pattern: 'a', path }, mode: 'agent' } as const;
    return visibilityOf(call, { ...CONFINED, userRules: rules.map(rule), realNames: [realName] });
  };

  test.each<[string, string[], string, boolean]>([
    ['.', [], 'private/a', true],
    ['.', ['deny * private/*'], 'private/a', false],
    ['.', ['deny * private/*'], 'private', true],
    ['.', ['deny * private/*'], 'src/private/a', true],
    ['.', ['deny gr?p private/*'], 'private/a', false],
    ['.', ['deny Grep private/*'], 'private/a', false],
    ['.', ['deny list_dir private/*'], 'private/a', true],
    ['.', ['deny * private/*', 'allow grep private/b'], 'private/a', false],
    ['.', ['deny * private/*', 'allow grep private/b'], 'private/b', true],
    ['.', ['ask * private/*'], 'private/a', false],
    ['private', ['ask * private/*'], 'private/a', true],
    ['private/a', ['ask * private/a'], 'private/a', true],
    ['private', ['ask * private/*', 'ask * *.pdf'], 'private/a.pdf', false],
    ['private', ['ask * private/*', 'deny * *.pdf'], 'private/a.pdf', false],
    ['.', ['ask grep'], 'private/a', true],
  ])('grep of %s under %j shows %s: %s', (path, rules, name, isShown) => {
    expect(grepIn(path, rules)?.mayShow(name)).toBe(isShown);
  });

  test('is judged by where its path leads, too', () => {
    const shown = grepIn('link', ['ask * private/*', 'ask * link/*'], 'private');
    expect([shown?.mayShow('private/a'), shown?.note]).toEqual([true, undefined]);
  });

  test('includes the rules of the workspace', () => {
    const call = { tool: 'grep', arguments: { pattern: 'a' }, mode: 'agent' } as const;
    const policy = {
      ...CONFINED,
      userRules: [rule('allow *')],
      workspaceRules: [rule('deny * a/*')],
    };
    expect(['a/b', 'b/a'].map((name) => visibilityOf(call, policy)?.mayShow(name))).toEqual([
      false,
      true,
    ]);
  });

  test('a search has a note where rules could leave something out, found or not', () => {
    const rules = ['deny * private/*', 'deny write x', 'ask * *.pdf', 'deny * src/b/*'];
    expect([grepIn('.', rules)?.note, grepIn('src/a', rules)?.note, grepIn('.', [])?.note]).toEqual(
      [
        '(Left out, because the rules of this machine deny it: private/*, src/b/*. ' +
          'Left out, because the person wants to be asked: call a tool with such a path: *.pdf.)',
        '(Left out, because the person wants to be asked: call a tool with such a path: *.pdf.)',
        undefined,
      ],
    );
  });

  test('of a command is not for its paths', () => {
    const call = { tool: 'Shell', arguments: { command: 'ls' }, mode: 'agent' } as const;
    expect(visibilityOf(call, CONFINED)).toBeUndefined();
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
      'The request allows run_terminal_cmd only some paths, and it cannot be limited to them.',
    ]);
  });
});
