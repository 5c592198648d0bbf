import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  createConnectionJudge,
  createJudge,
  readPageRules,
} from '../../../bridge/admission/judge.ts';
import { toolsRunBy } from '../../../shared/tools/catalogue.ts';
import type { ToolDefinition } from '../../../shared/tools/definition.ts';
import { openWorktree } from '../../../shared/tools/worktree.ts';
import type { AccountGrant } from '../../../shared/wire/grants.ts';
import type { Decision } from '../../../shared/wire/policy.ts';
import { Preset } from '../../../shared/wire/preset.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';

const OWNERS = 'conv_of_the_owner';
const BENS = 'conv_of_ben';
const ENDED = 'conv_of_an_ended_grant';
const ANSWERED = '2026-11-24T00:00:00.000Z';

/** The judge of a machine that lets Ben in. */
async function machine(policy: object, grant: Partial<AccountGrant> = {}, isConfined = true) {
  const stateDir = await temporaryFolder();
  writeFileSync(join(stateDir, 'policy.json'), JSON.stringify(policy));
  const surroundings = { root: await temporaryFolder(), stateDir, isForeign: async () => false };
  const granted: AccountGrant = { name: 'ben', preset: 'workspace', since: ANSWERED, ...grant };
  const facts = {
    isConfined,
    opensHosts: true,
    grantOf: async (conversationId: string) =>
      conversationId === BENS ? granted : conversationId === ENDED ? null : undefined,
    answeredIn: () => [{ tool: 'edit', pattern: '*', decision: 'allow' as const }],
  };
  const judge = createJudge(surroundings, facts);
  const decide = async (conversationId: string, call: Called) =>
    (await judge({ ...call, mode: 'agent', conversationId }, call.subjects)).decision;
  return { decide, surroundings, facts };
}

interface Called {
  readonly definition: ToolDefinition;
  readonly args: Record<string, unknown>;
  readonly subjects: readonly string[];
}

const BRIDGE_TOOLS = toolsRunBy('bridge');

const command = (line: string, more: object = {}) => called('run_terminal_cmd', line, more);

function called(name: string, subject: string, more: object = {}): Called {
  const definition = [...BRIDGE_TOOLS, openWorktree].find((tool) => tool.name === name);
  if (!definition) throw new Error(`no tool ${name}`);
  return { definition, args: { command: subject, ...more }, subjects: [subject] };
}

const CALLS: readonly Called[] = [
  ...BRIDGE_TOOLS.filter(({ name }) => !['run_terminal_cmd', 'web_fetch'].includes(name)).map(
    ({ name }) => called(name, 'a.txt'),
  ),
  called('web_fetch', 'https://docs.example.com/a'),
  command('ls'),
  command('rm -r src'),
  command('npm i', { permissions: ['network'], hosts: ['registry.npmjs.org'] }),
  command('curl https://x.test', { permissions: ['network'], hosts: ['x.test'] }),
  command('git commit', { permissions: ['git_write'] }),
];

const STRICTNESS: readonly Decision[] = ['allow', 'ask', 'deny'];
const POLICIES: readonly object[] = [
  ...Preset.options.map((preset) => ({ preset })),
  { rules: [{ tool: '*', decision: 'allow' }] },
  { rules: [{ tool: '*', decision: 'deny' }] },
  { preset: 'trusted', rules: [{ tool: 'edit', decision: 'deny' }] },
];

test.each(Preset.options)(
  'under a grant of %s no call may do more than under the owner’s rules',
  async (preset) => {
    for (const policy of POLICIES) {
      const [granted, alone] = [await machine(policy, { preset }), await machine({ preset })];
      const { facts } = granted;
      facts.answeredIn = () => [];
      for (const call of CALLS) {
        const [ben, owner] = [await granted.decide(BENS, call), await granted.decide(OWNERS, call)];
        const why = JSON.stringify({ policy, preset, tool: call.definition.name, ben, owner });
        expect(STRICTNESS.indexOf(ben), why).toBeGreaterThanOrEqual(STRICTNESS.indexOf(owner));
        if (preset === 'workspace' || preset === 'trusted') continue;
        const ceiling = await alone.decide(OWNERS, call);
        expect(STRICTNESS.indexOf(ben), why).toBeGreaterThanOrEqual(
          ceiling === 'deny' ? 2 : ceiling === 'ask' && preset === 'ask' ? 1 : 0,
        );
      }
    }
  },
);

test('a conversation of an ended grant may do nothing', async () => {
  const { decide, facts, surroundings } = await machine({
    rules: [{ tool: '*', decision: 'allow' }],
  });
  for (const call of CALLS) expect(await decide(ENDED, call)).toBe('deny');
  const connect = createConnectionJudge(surroundings, facts);
  const target = { host: 'registry.npmjs.org', port: 443 };
  expect(await connect(target, { conversationId: ENDED, hosts: ['*'] })).toMatchObject({
    isOpen: false,
  });
});

test('what people answered holds for the owner alone, and what the owner wrote for both', async () => {
  const answered = { decision: 'allow', answered: ANSWERED };
  const written = { decision: 'allow' };
  const rulesOf = (how: object) => ({
    preset: 'ask',
    rules: [
      { tool: 'edit', pattern: 'a.txt', ...how },
      { tool: 'command', pattern: 'ls', ...how },
      { tool: 'web', pattern: 'https://docs.example.com/*', ...how },
    ],
  });
  const calls = [
    called('write', 'a.txt'),
    command('ls'),
    called('web_fetch', 'https://docs.example.com/a'),
  ];
  const decisions = async (how: object, conversationId: string) => {
    const { decide, facts } = await machine(rulesOf(how), { preset: 'trusted' });
    facts.answeredIn = () => [];
    return await Promise.all(calls.map((call) => decide(conversationId, call)));
  };
  expect(await decisions(answered, OWNERS)).toEqual(['allow', 'allow', 'allow']);
  expect(await decisions(answered, BENS)).toEqual(['ask', 'ask', 'ask']);
  expect(await decisions(written, BENS)).toEqual(['allow', 'allow', 'allow']);
});

test('an answer for one conversation of the owner lifts nothing for a grant', async () => {
  const { decide } = await machine({ preset: 'ask' }, { preset: 'trusted' });
  const edit = called('write', 'a.txt');
  expect([await decide(OWNERS, edit), await decide(BENS, edit)]).toEqual(['allow', 'ask']);
});

test('answered hosts and pages stay closed to the running commands and redirects of a grant', async () => {
  const answered = { decision: 'allow', answered: ANSWERED };
  const rules = [
    { tool: 'network', pattern: 'x.test', ...answered },
    { tool: 'web', pattern: '*://x.test/*', ...answered },
  ];
  const { facts, surroundings } = await machine({ rules }, { preset: 'trusted' });
  facts.answeredIn = () => [];
  const connect = createConnectionJudge(surroundings, facts);
  const isOpen = async (conversationId: string) =>
    (await connect({ host: 'x.test', port: 443 }, { conversationId, hosts: [] })).isOpen;
  expect([await isOpen(OWNERS), await isOpen(BENS)]).toEqual([true, false]);
  const leadsOn = async (conversationId: string) =>
    (await readPageRules(surroundings, facts, conversationId))('https://x.test/a', () => false);
  expect([await leadsOn(OWNERS), await leadsOn(BENS)]).toEqual([true, false]);
});

test('a rule that the owner wrote for commands lifts for others only what their preset runs anyway', async () => {
  const policy = { rules: [{ tool: 'command', decision: 'allow' }] };
  const lines = [
    command('ls'),
    command('npm run build', { permissions: ['network'], hosts: ['x.test'] }),
    command('git commit', { permissions: ['git_write'] }),
    command('rm -r src'),
  ];
  const decisions = async (preset: Preset, isConfined: boolean, conversationId = BENS) => {
    const { decide, facts } = await machine(policy, { preset }, isConfined);
    facts.answeredIn = () => [];
    return await Promise.all(lines.map((line) => decide(conversationId, line)));
  };
  expect(await decisions('workspace', true)).toEqual(['allow', 'ask', 'ask', 'ask']);
  expect(await decisions('workspace', false)).toEqual(['ask', 'ask', 'ask', 'ask']);
  expect(await decisions('trusted', true)).toEqual(await decisions('trusted', true, OWNERS));
});

test('only a grant for worktrees lets a read-only account make one', async () => {
  const open = called(openWorktree.name, '.');
  const apart = await machine({ rules: [] }, { preset: 'read-only', worktrees: true });
  const here = await machine({ rules: [] }, { preset: 'read-only' });
  const forbidden = await machine(
    { preset: 'read-only' },
    { preset: 'read-only', worktrees: true },
  );
  expect([
    await apart.decide(BENS, open),
    await here.decide(BENS, open),
    await forbidden.decide(BENS, open),
  ]).toEqual(['allow', 'deny', 'deny']);
});
