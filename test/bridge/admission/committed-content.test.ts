/** Lines that print what was committed of a closed file. */
import { expect, it } from 'vitest';
import { admit } from '../../../bridge/admission/admit.ts';
import { type JudgedCall, judgeCall } from '../../../bridge/admission/policy.ts';
import { bindTool } from '../../../packages/host/tool.ts';
import { Workspace } from '../../../packages/workspace/workspace.ts';
import { runTerminalCmd } from '../../../shared/tools/run-terminal-cmd.ts';
import type { ToolCall } from '../../../shared/wire/tunnel.ts';
import {
  DAILY,
  decide,
  decisions,
  IGNORED,
  linesThatPrint,
  printedBy,
  repository,
  SPELLINGS,
} from './committed-lines.ts';

it('every line that prints committed content of a closed file asks', async () => {
  const { asked, silent } = await linesThatPrint(67);
  expect(silent).toEqual([]);
  expect(asked).toBeGreaterThan(7);
});

it('lines that print it in another spelling ask', async () => {
  const place = await repository(IGNORED);
  const printing = printedBy(place, SPELLINGS);
  expect(SPELLINGS.filter((line) => !printing.includes(line))).toEqual([]);
  expect(await decisions(place, SPELLINGS)).toEqual(allOf(SPELLINGS, 'ask'));
});

it('commands and options that are not known to print none of it ask', async () => {
  const lines = [
    ...['git frobnicate', 'git frobnicate --stat', 'git status --frob', 'git log --frob'],
    ...['git -c alias.st=show st HEAD', 'git -c pager.status="git show HEAD" status'],
    ...['git --frob=1 show HEAD', 'git rev-list -p HEAD', 'git log --check', 'git add -p'],
    ...['git reset -p', 'git checkout -p', 'git checkout --pat', 'git stash -p', 'git commit -v'],
    ...['git commit --interactive', 'git request-pull -p v1 . HEAD', 'git show -s $B'],
    ...['git log $OPTIONS', 'git show --stat 5f3a1c9', 'git worktree add ../w', 'git notes show'],
    ...['git --work-tree=../w checkout HEAD -- .', 'GIT_WORK_TREE=../w git restore .'],
    ...[
      'git config --blob HEAD:a -l',
      'git rebase --show-current-patch',
      'echo HEAD | xargs git show',
    ],
    ...['git ls-files | xargs git blame', 'git bisect run git show', 'git am --show-current-patch'],
    ...[
      'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=commit.verbose git commit',
      'GIT_PAGER="git show" git log',
    ],
    ...['git -c core.editor=cat -c commit.verbose=1 commit', "GIT_EXTERNAL_DIFF='echo' git diff"],
    ...["git submodule foreach 'git show HEAD'", 'git rerere diff', 'git svn diff', 'git-frob'],
  ];
  expect(await decisions(await repository(IGNORED), lines)).toEqual(allOf(lines, 'ask'));
});

it('daily lines that print none of it ask nothing', async () => {
  expect(DAILY.length).toBeGreaterThan(100);
  expect(await decisions(await repository(IGNORED), DAILY)).toEqual(allOf(DAILY, 'allow'));
});

it('a path counts from where the line runs git', async () => {
  const place = await repository({ '.aws/credentials': 'x', 'sub/.cursorignore': 'key\n' });
  await place.put('.git/index', ''); // Git tracks nothing, so that only the names count.
  const lines = [
    ...['git -C .aws show HEAD:./credentials', 'cd .aws && git show HEAD:./credentials'],
    ...['git -C sub show HEAD:./key', 'git -C sub -C . blame key', 'cd sub; git blame -- key'],
    ...['(cd sub && true); cd .aws && git blame credentials', 'env -C sub git blame key'],
    ...['git --git-dir=sub/.git --work-tree sub blame key', 'sh -c "cd sub && git blame key"'],
    ...['git --git-dir sub/.git show HEAD:key', 'GIT_DIR=sub/.git git show HEAD:key'],
    ...['git -C sub/deep show HEAD:key', 'cd sub/deep && git show HEAD:./../key'],
    ...['pushd sub && /usr/lib/git-core/git-show HEAD:./key', 'git -C sub/deep log -p -- ../key'],
  ];
  expect(await decisions(place, lines)).toEqual(allOf(lines, 'ask'));
  const others = ['git -C sub show HEAD:./a', 'git show HEAD:./key', 'cd lib && git blame key'];
  expect(await decisions(place, others)).toEqual(allOf(others, 'allow'));
});

it('a pattern counts as the name of each secret that it can match', async () => {
  const place = await repository({});
  const asked = [
    ...["git log -p -- '.e*'", 'git log -p -- "*nv"', 'git show HEAD:.en?', "git log -p -- '*'"],
    ...["git log -p -- ':(glob)**/.env'", "git log -p -- ':(icase).ENV'", "git diff v1 -- ':/.e*'"],
    ...["git log -p -- 'src/*.p?m'", "git log -p -- '.en[v]'", "git log -p -- '\\.env'"],
    ...["git archive HEAD '.a*'", "git log -p -- ':(top).aws'", "git frobnicate '.aws/*'"],
  ];
  expect(await decisions(place, asked)).toEqual(allOf(asked, 'ask'));
  const allowed = [
    ...["git log -p -- '*.ts'", "git diff main -- 'src/**/*.tsx'", "git log -p -- . ':!.env'"],
    ...["git grep 'x.*y' HEAD", "git log --oneline -- '*'", "git show 'HEAD:app/[id]/page.tsx'"],
    ...["git log -p -- ':(exclude)*.pem' ."],
  ];
  expect(await decisions(place, allowed)).toEqual(allOf(allowed, 'allow'));
});

it('without a rule at the top, lines about all files ask where git tracks a closed one', async () => {
  const lines = [
    ...['git show HEAD', 'git log -p', 'git archive HEAD', 'git diff HEAD~1', 'git frobnicate'],
    ...['git grep -e. HEAD', '/usr/lib/git-core/git-show HEAD', 'git -C sub show HEAD'],
  ];
  const secret = await repository({ '.env': 'KEY=1\n' });
  expect(await decisions(secret, lines)).toEqual(allOf(lines, 'ask'));
  const below = await repository({ 'sub/.cursorignore': 'key\n', 'sub/key': '1\n' });
  expect(await decisions(below, lines)).toEqual(allOf(lines, 'ask'));
  const open = await repository({ '.env.example': 'KEY=\n' });
  await open.put('.env', 'KEY=1\n');
  expect(await decisions(open, lines)).toEqual(allOf(lines, 'allow'));
  expect(await decisions(secret, DAILY)).toEqual(allOf(DAILY, 'allow'));
});

it('words that are no paths of the system change nothing', async () => {
  const place = await repository({ '.env': 'KEY=1\n' });
  const long = 'x'.repeat(5_000);
  const lines = [
    ...['cd a.txt && git show HEAD', `git -C ${long} show HEAD`, "git -C $'a\\0b' show HEAD"],
    ...[`git --git-dir=a.txt ${'--work-tree=w '.repeat(40)} log -p`, 'cd a\0b; git log -p'],
    ...[`${'cd a; cd b; '.repeat(200)} git log -p`, `git show ${':'.repeat(7_000)}`],
    ...[`git log -p -- ${"'*.ts' ".repeat(1_000)}`, `git log -p -- ${'*'.repeat(7_000)}`],
    ...[`git ${'bisect run env -C a -C b git '.repeat(20)} show`],
  ];
  const began = performance.now();
  const decision = await decide(place);
  expect(lines.map(decision)).toEqual(lines.map(() => 'ask'));
  expect(performance.now() - began).toBeLessThan(5_000);
});

it('without a .cursorignore lines that name a closed path ask', async () => {
  const lines = {
    'git show HEAD': 'allow',
    'git show HEAD:.env.example': 'allow',
    'git show HEAD:.env': 'ask',
    'git show HEAD:./sub/.env': 'ask',
    'git log -p -- .env': 'ask',
    'git cat-file -p HEAD:.env': 'ask',
    'git -C . --no-pager blame .env': 'ask',
    'sh -c "git show HEAD:.env"': 'ask',
  };
  expect(await decisions(await repository({}), Object.keys(lines))).toEqual(lines);
});

it('a rule of the owner that allows the line has the last word', async () => {
  const place = await repository(IGNORED);
  const rule = { tool: 'command', pattern: 'git show*', decision: 'allow' } as const;
  const decision = await decide(place, { userRules: [rule] });
  expect([decision('git show HEAD'), decision('git log -p')]).toEqual(['allow', 'ask']);
});

function allOf(lines: readonly string[], decision: string): Record<string, string> {
  return Object.fromEntries(lines.map((line) => [line, decision]));
}

it('the folder of a call is where its line begins', async () => {
  const place = await repository({ 'sub/.cursorignore': 'key\n', 'lib/a': 'a\n' });
  await place.put('.git/index', ''); // Git tracks nothing, so that only the names count.
  const workspace = await Workspace.open(place.root);
  const bound = bindTool(runTerminalCmd, { propose: () => Promise.reject(new Error('none')) });
  const policy = { workspace: place.root, isConfined: true, userRules: [], workspaceRules: [] };
  const admitted = async (command: string, folder: string) => {
    const tool = {
      ...bound,
      read: (args: unknown, id: string) => ({ ...bound.read(args, id), paths: [folder] }),
    };
    const call: ToolCall = {
      callId: 'call',
      conversationId: 'conv',
      tool: runTerminalCmd.name,
      mode: 'agent',
      arguments: { command },
    };
    const room = {
      workspace,
      tools: new Map([[runTerminalCmd.name, tool]]),
      judge: async (judged: JudgedCall) => judgeCall(judged, policy),
    };
    const admission = await admit(call, room, undefined);
    return admission.state === 'admitted' ? admission.call.verdict.decision : admission.result;
  };
  expect(await admitted('git show HEAD:./key', 'sub')).toBe('ask');
  expect(await admitted('git -C ../sub blame key', 'lib')).toBe('ask');
  expect(await admitted('git show HEAD:./key', 'lib')).toBe('allow');
});
