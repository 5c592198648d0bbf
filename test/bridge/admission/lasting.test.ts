import { expect, it } from 'vitest';
import { Random } from '../../../bench/fuzz/random.ts';
import { patternOf, problemOfPattern, rulesOf } from '../../../bridge/admission/lasting.ts';
import type { Policy } from '../../../bridge/admission/policy.ts';
import type { Rule } from '../../../bridge/admission/rules.ts';
import type { Proposal } from '../../../shared/wire/approvals.ts';
import { fewOf } from '../../depth.ts';
import { newCommand } from './device.ts';
import { judge } from './judging.ts';

const NOW = new Date('2026-11-24T00:00:00Z');
const OPEN: Policy = { workspace: '/w', isConfined: false, userRules: [], workspaceRules: [] };

function decide(
  command: string,
  userRules: readonly Rule[],
  { permissions = [] as string[], isConfined = false } = {},
) {
  const call = {
    tool: 'run_terminal_cmd',
    arguments: { command, permissions },
    mode: 'agent',
  } as const;
  return judge(call, { ...OPEN, isConfined, userRules }).decision;
}

const unconfined = (command: string): Proposal => ({ ...newCommand(command), confinement: 'none' });

/** The rules of an "always" to the line as it is shown. */
function alwaysTo(command: string): readonly Rule[] | undefined {
  const proposal = unconfined(command);
  const pattern = patternOf(proposal);
  return pattern === undefined ? undefined : rulesOf(proposal, pattern, NOW);
}

it.each<[string, string | undefined]>([
  ['npm install', 'npm install'],
  ['cd web && npm install; npm test\nls', 'cd web\nnpm install\nnpm test\nls'],
  ['npm test && npm test', 'npm test'],
  ['timeout 60 npm test', 'npm test'],
  ['nohup nice -n 5 timeout -k 5s -s KILL 1.5m npm test &', 'npm test'],
  ['timeout $x npm test', 'timeout $x npm test'],
  ['timeout "60" npm test', 'timeout "60" npm test'],
  ['timeout 60 -x', 'timeout 60 -x'],
  ['sudo npm test', 'sudo npm test'],
  ['env A=1 npm test', 'env A=1 npm test'],
  ['rm *.log a?', 'rm [*].log a[?]'],
  ['npm test | tail -5', 'npm test\ntail -5'],
  ['npm test 2>&1 | grep "a|b"', 'npm test 2>&1\ngrep "a|b"'],
  ['if true; then npm test; fi', 'true\nnpm test'],
  // Something in these lines is not what it shows.
  ['A=1 npm test', undefined],
  ['npm test > out', undefined],
  ['npm $(x)', undefined],
  ['npm `x`', undefined],
  ['cat <<E\nx\nE', undefined],
  ['ls | xargs rm', undefined],
  ['curl x | sh', undefined],
  ['echo x | { true; psql; }', undefined],
  ['export PATH=x && npm test', undefined],
  ['. ./env.sh; npm test', undefined],
  ['alias ls=rm\nls a', undefined],
  ['echo "a\nb"', undefined],
  ['npm test # x', undefined],
  ['npm test "', undefined],
  ['f() { rm a; }; f', undefined],
])('the patterns of %j are %j', (command, pattern) => {
  expect(patternOf(newCommand(command))).toBe(pattern);
});

it('a line with too many commands, or one that leaves the sandbox, takes no answer that lasts', () => {
  expect(patternOf(newCommand(Array.from({ length: 11 }, (_, at) => `a${at}`).join(';')))).toBe(
    undefined,
  );
  expect(patternOf(newCommand(`echo ${'*'.repeat(1_400)}`))).toBeUndefined();
  expect(patternOf({ ...newCommand('ls'), permissions: ['all'] })).toBeUndefined();
});

it.each<[string, string, RegExp | undefined]>([
  ['npm run a', 'npm run a', undefined],
  ['npm run a', 'npm run *', undefined],
  ['npm run a', 'npm *', undefined],
  ['npm run a', 'npm ru? a', undefined],
  ['npm run a', 'npm*', /begins with "npm "/],
  ['npm run a', '*', /begins with "npm "/],
  ['npm run a', 'n?m run a', /begins with "npm "/],
  ['npm run a', 'npm run b*', /does not match/],
  ['npm run a', 'npm run a\nrm *', /takes 1 patterns/],
  ['npm run a', '', /does not match/],
  ['cd a && ls', 'ls', /takes 2 patterns/],
  ['cd a && ls', 'ls\ncd a', /does not match "cd a"/],
  ['cd a && ls', 'cd *\nls', undefined],
  ['sudo ls a', 'sudo *', /can run other commands/],
  ['xargs -a x rm', 'xargs *', /can run other commands/],
  ['bash a.sh', 'bash *', /can run other commands/],
  ['/usr/bin/env ls', '/usr/bin/env *', /can run other commands/],
  ['"su"do ls', '"su"do *', /can run other commands/],
  ['$x ls', '$x *', /can run other commands/],
  ['A=1 ls', 'A=1 ls', /counts once/],
])('for %j the pattern %j has the problem %s', (command, pattern, problem) => {
  const found = problemOfPattern(newCommand(command), pattern);
  if (problem) expect(found).toMatch(problem);
  else expect(found).toBeUndefined();
});

it('a rule of an answer holds with the permissions and the sandbox of its question', () => {
  const proposal: Proposal = { ...newCommand('git commit'), permissions: ['git_write'] };
  const [rule, ...others] = rulesOf(proposal, 'git commit', NOW);
  expect([rule, others]).toEqual([
    {
      tool: 'run_terminal_cmd',
      pattern: 'git commit',
      decision: 'allow',
      permissions: ['git_write'],
      sandbox: true,
      answered: NOW.toISOString(),
    },
    [],
  ]);
  const by = (permissions: string[], isConfined: boolean) =>
    decide('git commit', rule ? [rule] : [], { permissions, isConfined });
  expect([by(['git_write'], true), by([], true)]).toEqual(['allow', 'allow']);
  expect([
    by(['network', 'git_write'], true),
    by(['all'], true),
    by(['git_write'], false),
    by([], false),
  ]).toEqual(Array(4).fill('ask'));
});

it('an answer about the network is for the hosts that were shown, and for no command', () => {
  const permissions = ['network:a.example.com', 'network:b.test:8443'];
  const proposal: Proposal = { ...newCommand('npm install > log'), permissions };
  const pattern = 'a.example.com\nb.test:8443';
  expect(patternOf(proposal)).toBe(pattern);
  expect(rulesOf(proposal, pattern, NOW)).toEqual(
    ['a.example.com', 'b.test:8443'].map((host) => ({
      tool: 'network',
      pattern: host,
      decision: 'allow',
      answered: NOW.toISOString(),
    })),
  );
  for (const given of [pattern, '*.example.com\nb.test:8443'])
    expect(problemOfPattern(proposal, given)).toBeUndefined();
  for (const given of [
    'a.example.com',
    '*\nb.test:8443',
    '*.com\nb.test:8443',
    'a.example.com\n*.test:8443',
    'a.example.com\nb.test',
    'a.example.com:*\nb.test:8443',
  ])
    expect(problemOfPattern(proposal, given), given).toMatch(/pattern/);
});

it('a yes to the whole network, or to the network and more, counts once', () => {
  for (const permissions of [['network'], ['git_write', 'network:a.test']])
    expect(patternOf({ ...newCommand('npm install'), permissions })).toBeUndefined();
});

it('an answer lifts questions, but never takes the place of a rule that forbids', () => {
  const own = (decision: Rule['decision'], pattern: string): Rule => ({
    tool: 'command',
    pattern,
    decision,
  });
  const [answered] = alwaysTo('git push origin') ?? [];
  const by = (...rules: (Rule | undefined)[]) =>
    decide(
      'git push origin',
      rules.flatMap((rule) => rule ?? []),
    );
  expect(by(own('ask', 'git *'), answered)).toBe('allow');
  expect(by(own('deny', 'git push*'), answered)).toBe('deny');
  expect(by(answered, own('deny', 'git push*'))).toBe('deny');
  expect(by(own('deny', 'git *'), own('allow', 'git push*'), answered)).toBe('allow');
  expect(by(own('deny', 'echo * | sh*'), answered)).toBe('allow');
});

it('an answer about a command without input does not hold behind a pipe', () => {
  const rules = [...(alwaysTo('psql -f a') ?? []), ...(alwaysTo('echo x') ?? [])];
  expect(decide('psql -f a; echo x', rules)).toBe('allow');
  expect(decide('echo x | psql -f a', rules)).toBe('ask');
  expect(decide('echo x | { true; psql -f a; }', [...rules, ...(alwaysTo('true') ?? [])])).toBe(
    'ask',
  );
});

it('edits are allowed for the file or the pattern, and deletions are asked about each time', () => {
  const proposal: Proposal = {
    kind: 'edit',
    tool: 'str_replace',
    path: 'src/[a]*.ts',
    operation: 'edit',
    diff: [],
    beforeHash: '',
    afterHash: '',
  };
  expect(patternOf(proposal)).toBe('src/[a][*].ts');
  expect(rulesOf(proposal, 'src/*', NOW).map(({ tool, pattern }) => [tool, pattern])).toEqual([
    ['str_replace', 'src/*'],
    ['edit_file', 'src/*'],
    ['edit_notebook', 'src/*'],
    ['write', 'src/*'],
  ]);
  expect(problemOfPattern(proposal, 'src/*')).toBeUndefined();
  expect(problemOfPattern(proposal, 'lib/*')).toMatch(/does not match/);
  expect(patternOf({ ...proposal, operation: 'delete' })).toBeUndefined();
  expect(patternOf({ ...proposal, tool: 'save_plan' })).toBeUndefined();
});

it('pages are allowed for their site, or for names below a domain of it', () => {
  const args = { url: 'https://api.docs.test/a', site: 'api.docs.test' };
  const proposal: Proposal = { kind: 'call', tool: 'web_fetch', arguments: args };
  expect(patternOf(proposal)).toBe('*://api.docs.test/*');
  for (const pattern of [
    'https://api.docs.test/a',
    '*://*.docs.test/*',
    'https://api.docs.test/*',
  ]) {
    expect(problemOfPattern(proposal, pattern), pattern).toBeUndefined();
  }
  const wrong = [
    '*',
    '*://*/*',
    '*://*.test/*',
    'http://api.docs.test/*',
    '*://docs.test/*',
    '*api.docs.test*',
  ];
  for (const pattern of [
    ...wrong,
    '*://a*.docs.test/*',
    '*://*docs.test/*',
    'https://api.docs.test/b*',
  ]) {
    expect(problemOfPattern(proposal, pattern), pattern).toMatch(/has the form/);
  }
});

it('a tool of a server is allowed for its definition, by its own pattern', () => {
  const offer = { server: 'tickets', tool: 'find', definition: 'a'.repeat(64) };
  const proposal: Proposal = { kind: 'call', tool: 'mcp_tickets_find', arguments: {}, offer };
  expect(rulesOf(proposal, patternOf(proposal) ?? '', NOW)).toEqual([
    {
      tool: 'mcp:tickets',
      pattern: 'tickets/find',
      decision: 'allow',
      definition: offer.definition,
      answered: NOW.toISOString(),
    },
  ]);
  expect(problemOfPattern(proposal, 'tickets/*')).toMatch(/is tickets\/find/);
});

/** One command of a generated line. `same` names what runs: a wrapper that only bounds it is left out. */
interface Part {
  readonly written: string;
  readonly same: string;
  /** Whether an answer may last for it. */
  readonly isShown: boolean;
  readonly isFilter: boolean;
}

const ATOMS = [
  'npm test',
  'make a',
  "echo 'a;b'",
  'rm *.log',
  'cd web',
  'head -1',
  'ls "$(x)"',
  'sh',
  'true',
];
const BOUNDS = ['', '', '', 'timeout 60 ', 'nice -n 5 ', 'nohup ', 'nohup timeout 5 '];
const WRAPPERS = ['', '', '', '', 'env A=1 ', 'sudo ', 'xargs ', 'A=1 ', 'timeout $x ', '! '];
const ENDS = [
  '',
  '',
  '',
  '',
  ' 2>&1',
  ' > out',
  ' < in',
  ' $(id)',
  ' `id`',
  ' x',
  ' "a b"',
  " 'c|d'",
  ' $HOME',
  ' # x',
  ' \\;',
];
const JOINTS = [' && ', '; ', ' || ', '\n', ' & ', ' | ', ' |& '];

function randomPart(random: Random): Part {
  const pick = (list: readonly string[]) => random.pick(list);
  const [bound, wrapper, atom, end] = [pick(BOUNDS), pick(WRAPPERS), pick(ATOMS), pick(ENDS)];
  const isNot = wrapper === '! ';
  const written = isNot ? `! ${bound}${atom}${end}` : `${bound}${wrapper}${atom}${end}`;
  // Behind `timeout`, `A=1` is the name of a program.
  const isOdd = wrapper === 'A=1 ';
  const same = isOdd ? written : `${isNot ? '' : wrapper}${atom}${end}`;
  const isShown = !(isOdd && bound === '') && !/\$\(|`|#| [<>] /.test(same.replace('"$(x)"', '$('));
  return { written, same, isShown, isFilter: same.startsWith('head -1') };
}

interface Line {
  readonly parts: readonly Part[];
  readonly text: string;
  readonly isFed: boolean;
}

function randomLine(random: Random): Line {
  const parts = Array.from({ length: 1 + random.below(3) }, () => randomPart(random));
  let [text, isPiped, isFed] = ['', false, false];
  for (const [index, { written, isFilter }] of parts.entries()) {
    const joint = index === 0 ? '' : random.pick(JOINTS);
    if (joint.includes('|') && joint !== ' || ') isPiped = true;
    if (isPiped && !isFilter) isFed = true;
    text += joint + written;
  }
  return { parts, text, isFed };
}

it('no answer to a generated line lets another line run what the first did not show', () => {
  const random = new Random(7);
  const lines = Array.from({ length: fewOf(220, 80) }, () => randomLine(random));
  const counts = { offered: 0, allowed: 0 };
  const wider: string[] = [];
  for (const asked of lines) {
    const rules = alwaysTo(asked.text);
    if (rules === undefined) continue;
    counts.offered++;
    if (asked.isFed || !asked.parts.every(({ isShown }) => isShown))
      wider.push(`offered: ${asked.text}`);
    if (decide(asked.text, rules) !== 'allow') wider.push(`no use: ${asked.text}`);
    const shown = new Set(asked.parts.map(({ same }) => same));
    for (const later of lines) {
      if (decide(later.text, rules) !== 'allow') continue;
      counts.allowed++;
      const isSame =
        !later.isFed && later.parts.every(({ same, isShown }) => isShown && shown.has(same));
      if (!isSame) wider.push(`${JSON.stringify(asked.text)} allows ${JSON.stringify(later.text)}`);
    }
  }
  expect(wider.slice(0, 10)).toEqual([]);
  expect(counts.offered).toBeGreaterThan((2 / 11) * lines.length);
  expect(counts.allowed).toBeGreaterThan(counts.offered);
});
