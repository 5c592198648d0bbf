import { expect, it } from 'vitest';
import { REFUSALS } from '../../../bridge/admission/askers.ts';
import { patternOf, problemOfPattern } from '../../../bridge/admission/lasting.ts';
import { type AskedPattern, askPatterns } from '../../../machine/ask-patterns.ts';
import { patternProblem } from '../../../shared/shown/pattern-problem.ts';
import type { Proposal } from '../../../shared/wire/approvals.ts';

const command = (line: string, permissions: string[] = []): Proposal => ({
  kind: 'command',
  tool: 'run_terminal_cmd',
  command: line,
  folder: '.',
  permissions,
  background: false,
  timeLimitMs: null,
  confinement: 'bubblewrap',
});
const PROPOSALS: readonly Proposal[] = [
  command('npm test -- --run'),
  command('git add . && git commit -m "a*b?"'),
  command('npm install', ['network:registry.example.org', 'network:cdn.example.com:8443']),
  {
    kind: 'edit',
    tool: 'write',
    path: 'src/[id]/a*.ts',
    operation: 'edit',
    diff: [],
    digest: '0',
  } as unknown as Proposal,
  { kind: 'call', tool: 'web_fetch', arguments: { url: 'https://a.test/x', site: 'a.test' } },
];
const TYPED = [
  ...['*', 'npm *', 'npm test*', 'git *', 'git add .', 'yarn *', 'src/*', 'src/[id]/*', 'nothing'],
  ...['*.example.org', '*.example.com:8443', '*.example.com', 'registry.example.org', '*.org', '?'],
  ...['*://a.test/*', 'https://a.test/*', 'npm *\nnpm *', 'git *\ngit *', ''],
];

it('refuses no pattern in its field that the bridge would take, and sees what matches nothing', () => {
  let refused = 0;
  for (const proposal of PROPOSALS) {
    const standard = patternOf(proposal);
    if (standard === undefined) throw new Error(`no pattern for ${proposal.kind}`);
    expect(patternProblem(proposal, standard, standard)).toBeUndefined();
    const lines = standard.split('\n');
    const all = TYPED.flatMap((typed) => [typed, lines.with(-1, typed).join('\n')]);
    for (const typed of all) {
      const problem = patternProblem(proposal, standard, typed);
      if (problem) refused++;
      if (problem) expect(problemOfPattern(proposal, typed), typed).toBeDefined();
    }
    if (proposal.kind === 'call') continue;
    expect(patternProblem(proposal, standard, lines.with(0, 'nothing').join('\n'))).toMatchObject({
      type: 'mismatch',
    });
    expect(patternProblem(proposal, standard, `${standard}\nmore`)).toMatchObject({
      type: 'count',
      count: lines.length,
    });
  }
  expect(refused).toBeGreaterThan(50);
});

it('asks for a pattern again that does not match, and says why', async () => {
  const asked: AskedPattern[] = [];
  const typed = ['yarn *', 'npm test*'];
  const ask = async (each: AskedPattern) => {
    asked.push(each);
    return typed[asked.length - 1];
  };
  expect(await askPatterns(ask, command('npm test'), 'npm test')).toBe('npm test*');
  expect(asked.map(({ refused }) => refused)).toEqual([
    undefined,
    { typed: 'yarn *', why: 'The pattern does not match npm test.' },
  ]);
});

it('gives each refusal its own sentence, and advice to enrol to the device that is not enrolled alone', () => {
  const all = Object.entries(REFUSALS);
  expect(new Set(all.map(([, words]) => words)).size).toBe(all.length);
  const enrolling = all.filter(([, words]) => words.includes('devices enrol'));
  expect(enrolling.map(([why]) => why)).toEqual(['notEnrolled']);
});
