import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  createJudge,
  readFindable,
  readPageRules,
  readShowable,
} from '../../../bridge/admission/judge.ts';
import type { JudgedCall } from '../../../bridge/admission/policy.ts';
import { readFile } from '../../../shared/tools/read-file.ts';
import { runTerminalCmd } from '../../../shared/tools/run-terminal-cmd.ts';
import { write } from '../../../shared/tools/write.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';

const CALLS: readonly JudgedCall[] = [
  { definition: readFile, args: { target_file: 'a.txt' }, subjects: ['a.txt'], mode: 'agent' },
  {
    definition: write,
    args: { file_path: 'a.txt', contents: '' },
    subjects: ['a.txt'],
    mode: 'agent',
  },
  { definition: runTerminalCmd, args: { command: 'ls' }, subjects: ['ls'], mode: 'agent' },
];

async function place(rules: readonly object[]) {
  const stateDir = await temporaryFolder();
  writeFileSync(join(stateDir, 'policy.json'), JSON.stringify({ rules }));
  return { root: await temporaryFolder(), stateDir, isForeign: async () => false };
}

async function verdicts(rules: readonly object[], isDistrusted?: () => boolean) {
  const judge = createJudge(await place(rules), {
    isConfined: true,
    ...(isDistrusted && { isDistrusted }),
  });
  return await Promise.all(CALLS.map((call) => judge(call, [])));
}

test('an editor that does not trust the workspace makes every allowed call a question', async () => {
  const judged = await verdicts([{ tool: '*', decision: 'allow' }], () => true);
  expect(judged.map(({ decision }) => decision)).toEqual(['ask', 'ask', 'ask']);
  for (const { reason } of judged) expect(reason).toContain('you do not trust this workspace');
});

test('and lifts nothing: what is denied or asked about stays so, for its own reason', async () => {
  const rules = [
    { tool: 'read_file', decision: 'deny' },
    { tool: 'command', decision: 'ask' },
  ];
  const [distrusted, known] = [await verdicts(rules, () => true), await verdicts(rules)];
  expect(distrusted[0]).toMatchObject({ decision: 'deny', reason: known[0]?.reason });
  expect(distrusted[2]).toMatchObject({ decision: 'ask', reason: known[2]?.reason });
});

test.each([
  ['an editor that trusts it, or does not say', () => false],
  ['no editor', undefined],
])('%s changes nothing', async (_, isDistrusted) => {
  const judged = await verdicts([], isDistrusted);
  expect(judged.map(({ decision }) => decision)).toEqual(['allow', 'allow', 'allow']);
});

test('the prompt shows of a file what the rules of its tool allow', async () => {
  const surroundings = await place([{ tool: 'read_file', pattern: 'b.txt', decision: 'ask' }]);
  const { mayName, mayRead } = await readShowable(surroundings);
  expect([mayName('b.txt'), mayRead('b.txt'), mayRead('a.txt')]).toEqual([true, false, true]);
});

test('a file that a message names has no content where an editor does not trust the workspace', async () => {
  const surroundings = await place([
    { tool: 'web', pattern: 'https://x.test/*', decision: 'allow' },
  ]);
  const openTo = async (isDistrusted: boolean) => {
    const { mayName, mayRead, mayFetch } = await readFindable(surroundings, () => isDistrusted);
    return [mayName('a.txt'), mayRead('a.txt'), mayFetch('https://x.test/a')];
  };
  expect(await openTo(false)).toEqual([true, true, true]);
  expect(await openTo(true)).toEqual([true, false, false]);
});

test('a page leads web_fetch nowhere where an editor does not trust the workspace', async () => {
  const surroundings = await place([
    { tool: 'web', pattern: 'https://x.test/*', decision: 'allow' },
  ]);
  const leadsOn = async (isDistrusted: boolean) => {
    const facts = { isConfined: true, isDistrusted: () => isDistrusted };
    const mayGoOn = await readPageRules(surroundings, facts, '');
    return ['https://x.test/a', 'https://y.test/'].map((url) => mayGoOn(url, () => true));
  };
  expect(await leadsOn(false)).toEqual([true, true]);
  expect(await leadsOn(true)).toEqual([false, false]);
});
