/** Lines of git in a real repository that has committed a closed file, and what they print. */
import { execFileSync, spawnSync } from 'node:child_process';
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Policy } from '../../../bridge/admission/policy.ts';
import { closedToGit } from '../../../packages/workspace/closed-to-git.ts';
import { Workspace } from '../../../packages/workspace/workspace.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../tools/temporary-workspace.ts';
import { judge } from './judging.ts';

const SECRET = 'the-secret-of-private';

/** With two commits, of which each has another `private/key.txt`. */
export async function repository(files: Record<string, string>): Promise<TemporaryWorkspace> {
  const place = await temporaryWorkspace({ 'a.txt': 'one\n', ...files });
  const git = (line: string) =>
    execFileSync('sh', ['-c', line], { cwd: place.root, stdio: 'pipe', env: ENVIRONMENT });
  git('git init -q -b main; git add -A; git commit -qm first');
  await place.put('a.txt', 'two\n');
  await place.put('private/key.txt', `changed ${SECRET}\n`);
  const key = join(place.root, 'private/key.txt');
  await utimes(key, LONG_AGO_S, LONG_AGO_S);
  git('git config core.trustctime false; git config core.checkstat minimal');
  git('git add -A; git commit -qm second; git tag v1');
  // What lies over the file in the sandbox: git knows it as unchanged by its size and time.
  await writeFile(key, '\0'.repeat(`changed ${SECRET}\n`.length));
  await utimes(key, LONG_AGO_S, LONG_AGO_S);
  return place;
}

const LONG_AGO_S = 1_000_000_000;

const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_AUTHOR_NAME: 'Ana',
  GIT_AUTHOR_EMAIL: 'ana@example.com',
  GIT_COMMITTER_NAME: 'Ana',
  GIT_COMMITTER_EMAIL: 'ana@example.com',
  GIT_PAGER: 'cat',
};

const CONFINED = { isConfined: true, userRules: [], workspaceRules: [] };

/** What a command of the sandbox would print, where the closed files themselves are covered. */
function printed({ root }: TemporaryWorkspace, command: string): string {
  const { stdout } = spawnSync('sh', ['-c', command], { cwd: root, env: ENVIRONMENT });
  return stdout.toString();
}

/** The policy's decision about a line there. */
export async function decide({ root }: TemporaryWorkspace, rules: Partial<Policy> = {}) {
  const workspace = await Workspace.open(root);
  const closed = closedToGit(workspace, root);
  return (command: string) => {
    const call = {
      tool: 'run_terminal_cmd',
      arguments: { command },
      mode: 'agent' as const,
      closed,
    };
    return judge(call, { workspace: root, ...CONFINED, ...rules }).decision;
  };
}

/** The decision about each line. */
export async function decisions(place: TemporaryWorkspace, lines: readonly string[]) {
  const decision = await decide(place);
  return Object.fromEntries(lines.map((line) => [line, decision(line)]));
}

/** The lines that print the secret. */
export function printedBy(place: TemporaryWorkspace, lines: readonly string[]) {
  return lines.filter((line) => printed(place, line).includes(SECRET));
}

/** They print it, and name no closed path as it stands in the workspace. */
export const SPELLINGS = [
  'git grep -e. HEAD',
  'git grep -ehe HEAD',
  'git grep --no-index -e the-secret; git grep -esecret v1',
  'git merge-tree HEAD~1^{tree} HEAD~1^{tree} HEAD',
  'git show --stat $(git rev-parse HEAD:private/key.txt)',
  'B=$(git rev-parse HEAD:private/key.txt); git show -s $B',
  '"$(git --exec-path)/git-show" HEAD',
  'git -C . --exec-path="$(git --exec-path)" show HEAD',
  'git -c alias.x=show x HEAD',
  'git request-pull -p HEAD~1 . HEAD',
  'cd private && git show HEAD:./key.txt',
  'git -C private show HEAD:./key.txt',
  'git -C private blame HEAD -- key.txt',
  'git --git-dir=.git --work-tree=private show HEAD',
  "git log -p -- 'priv*'",
  "git diff HEAD~1 HEAD -- ':(glob)**/key.txt'",
  "git log -p -- ':(icase)PRIVATE'",
  'GIT_DIR=.git git show HEAD',
  'git rev-list HEAD | xargs git show',
  'git rev-list --objects HEAD | cut -c1-40 | git cat-file --batch',
  'git tag hidden HEAD:private/key.txt; git for-each-ref --format="%(raw)"',
  'git tag -f hidden HEAD:private/key.txt; git tag -l --format="%(raw)"',
  'git worktree add -q --detach copy && cat copy/private/key.txt',
  'mkdir other; git --work-tree=other checkout HEAD -- . && cat other/private/key.txt',
  'git log --remerge-diff',
  'git show -s --patch',
  'git log --stat --unified=1',
  'env git show HEAD',
  'nohup git log -p 2>/dev/null',
];

/** They print none of it. */
export const DAILY = [
  ...[
    'git status',
    'git status -s',
    'git status --short',
    'git status --porcelain',
    'git status -sb',
  ],
  ...['git status --porcelain=v1 -uno', 'git log', 'git log --oneline', 'git log --oneline -n 5'],
  ...['git log --oneline -10', 'git log -1', 'git log --stat', 'git log --oneline --graph --all'],
  ...['git log --pretty=format:%h', 'git log -1 --format=%B', 'git log main..HEAD --oneline'],
  ...['git log --since="1 week" --author=ana', 'git log --oneline -- a.txt', 'git log --name-only'],
  ...['git log --decorate --date=short', 'git log --follow a.txt', 'git log -S one --oneline'],
  ...['git log --color', 'git --no-pager log --oneline', 'git shortlog -sn', 'git show --stat'],
  ...['git show --stat HEAD', 'git show --name-only HEAD~1', 'git show -s --format=%H'],
  ...['git show --no-patch v1', 'git show --name-status', 'git diff', 'git diff --stat'],
  ...['git diff --stat HEAD', 'git diff --name-only', 'git diff --name-only main...HEAD'],
  ...['git diff --cached --stat', 'git diff --check', 'git diff --staged --name-status'],
  ...['git diff --shortstat', 'git diff -w', 'git diff --color=never', 'git --no-pager diff'],
  ...[
    'git add -A',
    'git add .',
    'git add a.txt',
    'git add -u',
    'git add --all',
    'git add -N b.txt',
  ],
  ...['git commit -m "show private"', 'git commit -am fix', 'git commit --amend --no-edit'],
  ...['git commit -m "a" -m "-p b"', 'git commit -q -F -', 'git commit --allow-empty -m x'],
  ...['git commit -m "$(cat <<\'EOF\'\nfix: git show -p\nEOF\n)"', 'git commit --no-verify -m x'],
  ...['git branch', 'git branch -a', 'git branch -vv', 'git branch topic', 'git branch -d topic'],
  ...['git branch --show-current', 'git branch --merged', 'git checkout main'],
  ...['git checkout -b topic', 'git checkout -b topic origin/main', 'git checkout v1'],
  ...[
    'git switch main',
    'git switch -c topic',
    'git switch -',
    'git push',
    'git pull',
    'git fetch',
  ],
  ...['git push -u origin topic', 'git push origin HEAD', 'git push --dry-run'],
  ...['git push --tags', 'git pull --rebase', 'git pull --ff-only origin main', 'git fetch --all'],
  ...['git fetch --prune origin', 'git merge main', 'git merge --no-ff topic', 'git merge --abort'],
  ...['git rebase main', 'git rebase --continue', 'git rebase --abort', 'git cherry-pick v1'],
  ...[
    'git -c core.editor=true rebase --continue',
    'git rebase -i HEAD~2',
    'git revert --no-edit HEAD',
  ],
  ...[
    'git stash',
    'git stash push -m work',
    'git stash push -u',
    'git stash pop',
    'git stash list',
  ],
  ...['git stash apply', 'git reset', 'git reset HEAD a.txt', 'git reset --soft HEAD~1'],
  ...['git restore --staged a.txt', 'git rm --cached a.txt', 'git mv a.txt b.txt', 'git tag'],
  ...['git tag v2', 'git tag -a v2 -m two', 'git tag -l "v*"', 'git remote -v', 'git ls-files'],
  ...['git remote add origin x', 'git ls-files --others --exclude-standard', 'git ls-tree -r HEAD'],
  ...['git ls-remote origin', 'git rev-parse HEAD', 'git rev-parse HEAD:a.txt', 'git init'],
  ...['git rev-parse --show-toplevel', 'git rev-parse --abbrev-ref HEAD', 'git config user.name'],
  ...['git config --list', 'git config --get remote.origin.url', 'git describe --tags'],
  ...['git merge-base HEAD v1', 'git blame a.txt', 'git blame -L 1,2 a.txt', 'git grep one'],
  ...[
    'git grep -n "o.*e"',
    'git grep -il one',
    'git cat-file -t HEAD',
    'git rev-list --count HEAD',
  ],
  ...['git worktree list', 'git reflog', 'git reflog -5', 'git check-ignore -v a.txt', 'git help'],
  ...['git submodule update --init --recursive', 'git submodule status', 'git apply fix.patch'],
  ...['git apply --check fix.patch', 'git clean -n', 'git count-objects -v', 'git --version'],
  ...['GIT_PAGER=cat git log -3', 'GIT_EDITOR=true git rebase --continue', 'PAGER=cat git diff'],
  ...[
    'GIT_AUTHOR_NAME=a GIT_AUTHOR_DATE="1 day" git commit -m x',
    'GIT_TERMINAL_PROMPT=0 git pull',
  ],
  ...['git -C . status', 'cd src && git status', 'git -c user.name=a -c user.email=b commit -m x'],
  ...['git bisect start', 'git bisect run npm test --silent', 'git lfs ls-files', 'git show-ref'],
  ...[
    'git for-each-ref --format="%(refname)"',
    'cat a.txt',
    'ls .git',
    'which git',
    'man git-show',
  ],
  ...['find . -name git -type f', 'git show HEAD:a.txt', 'git cat-file -p HEAD:a.txt'],
  ...['git status && git diff --stat && git log --oneline -3', 'git add . && git commit -m "x"'],
];

export const IGNORED = {
  '.cursorignore': 'private/\n',
  'private/key.txt': `${SECRET}\n`,
};

/** Each with each: the first word after `git`, and what can stand behind it. */
const COMMANDS = [
  'show',
  'log',
  'diff',
  'whatchanged',
  'reflog',
  'diff-tree',
  'diff-index',
  'cat-file',
  'blame',
  'annotate',
  'grep',
  'archive',
  'format-patch',
  'fast-export',
  'range-diff',
  'ls-tree',
  'rev-list',
  'shortlog',
  'describe',
  'status',
  'branch',
  'for-each-ref',
  'name-rev',
  'stash',
  'merge-tree',
  'commit --dry-run',
  '-C private show',
];
const OPTIONS = [
  '',
  '-p',
  '-u',
  '-U1',
  '--patch',
  '--cc',
  '-c',
  '-m',
  '--stat',
  '-s',
  '--oneline',
  '--binary',
  '--root',
  '-r -p',
  '--stdout',
  '--cached',
  '-L1,1:private/key.txt',
  '--patch-with-stat',
  '--pretty=medium',
  '--raw',
  '-v',
  '-e.',
];
const OPERANDS = [
  '',
  'HEAD',
  'HEAD~1',
  'HEAD~1 HEAD',
  'HEAD~1..HEAD',
  'HEAD:private/key.txt',
  'v1:./private/key.txt',
  '-- private',
  '-- private/key.txt',
  'private/key.txt',
  'HEAD -- a.txt',
  'secret HEAD',
  '-p HEAD:private/key.txt',
  ':private/key.txt',
  'HEAD~1 v1 v1',
];

/** Every `step`th line of all. */
export async function linesThatPrint(step: number) {
  const place = await repository(IGNORED);
  const decision = await decide(place);
  const lines = COMMANDS.flatMap((command) =>
    OPTIONS.flatMap((option) =>
      OPERANDS.map((operand) =>
        ['git', command, option, operand].filter((word) => word !== '').join(' '),
      ),
    ),
  ).filter((_, at) => at % step === 0);
  const found = { asked: 0, silent: [] as string[] };
  for (const line of lines) {
    if (!printed(place, line).includes(SECRET)) continue;
    if (decision(line) === 'ask') found.asked++;
    else found.silent.push(line);
  }
  return found;
}
