import { expect, test } from 'vitest';
import type { Policy } from '../../../bridge/admission/policy.ts';
import type { Rule } from '../../../bridge/admission/rules.ts';
import { judge } from './judging.ts';

const CONFINED: Policy = {
  workspace: '/w',
  isConfined: true,
  userRules: [],
  workspaceRules: [],
};

function verdict(command: string, policy: Policy = CONFINED) {
  return judge({ tool: 'run_terminal_cmd', arguments: { command }, mode: 'agent' }, policy);
}

const allowing = (pattern: string): Policy => {
  const rule: Rule = { tool: 'command', pattern, decision: 'allow' };
  return { ...CONFINED, userRules: [rule] };
};

test.each([
  ...['rm a', 'rm -rf dist && npm run build', 'cd x; rm -r .', 'ls | xargs rm', 'sudo rm a'],
  ...['/bin/rm a', "'r'm a", 'find . -name "*.pyc" -exec rm {} +', 'find . -delete', 'A=1 rm a'],
  ...['timeout 5 rm a', 'env X=1 rm a', 'sh -c "rm a"', 'echo $(rm a)', 'if true; then rm a; fi'],
  ...['unlink a', 'shred a', 'truncate -s 0 a', 'rsync -a --delete x/ y/', 'rm /tmp/../w/a'],
  ...['rm /tmp/a b', 'rm "$x"', 'rm -- -a', 'nohup rm a &', 'true\nrm a'],
  ...['git clean -fd', 'git -C . clean -fdx', 'git clean -fde n', 'git clean -f -e node_modules'],
  ...['git-clean -fd', '/usr/lib/git-core/git-reset --hard'],
  ...['git reset --hard', 'git reset --har HEAD~1', 'git reset -q --merge', 'git rm a'],
  ...['git checkout -- a', 'git checkout .', 'git checkout HEAD a', 'git checkout -f main'],
  ...['git checkout src/', 'git checkout a.ts', 'git checkout -B main', 'git checkout -p'],
  ...['git restore a', 'git restore -SW a', 'git restore --staged --worktree a'],
  ...[
    'git push --force',
    'git push -uf origin a',
    'git push --force-with-lease=a',
    'git push -d o a',
  ],
  ...['git push origin +main', 'git push origin :main', 'git push --mirror', 'git branch -D a'],
  ...['git branch -d -f a', 'git stash drop', 'git stash clear', 'git switch -f a', 'git prune'],
  ...['git switch --discard-changes a', 'git reflog expire --all', 'git worktree remove a'],
  ...[
    'git tag -d a',
    'git update-ref -d refs/heads/a',
    'git gc --prune=now',
    'git filter-branch x',
  ],
])('asks about %j', (line) => {
  const { decision, reason } = verdict(line);
  expect([decision, reason]).toEqual([
    'ask',
    expect.stringMatching(/can delete work that undo may not bring back\.$/),
  ]);
});

test.each([
  ...['ls', 'echo rm a', 'grep -rn "rm -rf" .', 'git commit -m "rm a; git clean"', 'npm rm a'],
  ...['rm /tmp/a', 'rm -rf /tmp/x/y /var/tmp/z', 'rm --help', 'git status', 'git clean -n'],
  ...['git clean -ndx', 'git clean --dry-run', 'git reset HEAD a', 'git reset --soft HEAD~1'],
  ...['git checkout main', 'git checkout -b fix/a', 'git checkout feature/x', 'git checkout -'],
  ...['git switch -c a', 'git restore --staged a', 'git push', 'git push -u origin a'],
  ...['git branch -d a', 'git branch a', 'git stash', 'git stash pop', 'git rm --cached a'],
  ...[
    'git tag v1',
    'find . -name a',
    'rsync -a x/ y/',
    'git log --diff-filter=D',
    'git worktree add a',
  ],
])('does not ask about %j', (line) => {
  expect(verdict(line).decision).toBe('allow');
});

test.each<[string, string, Rule['decision']]>([
  ['*', 'rm a', 'ask'],
  ['r*', 'rm a', 'ask'],
  ['git *', 'git clean -f', 'ask'],
  ['git push*', 'git push --force', 'ask'],
  ['rm *', 'rm a', 'allow'],
  ['rm -rf dist', 'rm -rf dist', 'allow'],
  ['rm -rf dist', 'rm -rf dist src', 'ask'],
  ['rm -rf dist', 'rm -rf dist; rm a', 'ask'],
  ['rm *', 'rm a > b', 'ask'],
  ['git clean*', 'git clean -f', 'allow'],
  ['find . -name [*].pyc -delete', 'find . -name *.pyc -delete', 'allow'],
])('the rule "allow %s" on %j: %s', (pattern, line, decision) => {
  expect(verdict(line, allowing(pattern)).decision).toBe(decision);
});

test('a command in a worktree deletes copies, and is not asked about', () => {
  expect(verdict('rm -rf a', { ...CONFINED, workspace: '/copy', standsFor: '/w' }).decision).toBe(
    'allow',
  );
});

test('without a sandbox /tmp is the machine’s, and every command asks', () => {
  expect(verdict('rm /tmp/a', { ...CONFINED, isConfined: false }).reason).toMatch(/^rm can delete/);
});

test('what a rule forbids stays forbidden', () => {
  const userRules: Rule[] = [{ tool: 'command', pattern: 'rm *', decision: 'deny' }];
  expect(verdict('rm a', { ...CONFINED, userRules }).decision).toBe('deny');
});
