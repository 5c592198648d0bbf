import { describe, expect, it } from 'vitest';
import { judgeConnection } from '../../../bridge/admission/network-verdict.ts';
import type { Policy } from '../../../bridge/admission/policy.ts';
import type { Rule } from '../../../bridge/admission/rules.ts';
import { parseRules } from '../../../bridge/admission/rules.ts';
import { parseHostPort } from '../../../shared/text/hosts.ts';
import { REGISTRIES } from '../../../shared/tools/registries.ts';
import type { Preset } from '../../../shared/wire/preset.ts';
import { judge } from './judging.ts';

const POLICY: Policy = {
  ...{ workspace: '/w', isConfined: true, opensHosts: true },
  ...{ userRules: [], workspaceRules: [] },
};

function decide(
  args: { readonly permissions?: readonly string[]; readonly hosts?: readonly string[] },
  policy: Partial<Policy> = {},
): string {
  const call = {
    ...{ tool: 'run_terminal_cmd', mode: 'agent' as const },
    arguments: { command: 'npm install', permissions: ['network'], ...args },
  };
  return judge(call, { ...POLICY, ...policy }).decision;
}

const rule = (decision: Rule['decision'], pattern: string, tool = 'network'): Rule => ({
  ...{ tool, pattern, decision },
});
const answered = (pattern: string): Rule => ({
  ...rule('allow', pattern),
  answered: '2026-11-24T00:00:00Z',
});
const REGISTRY_RULES = REGISTRIES.map(answered);
const COMMAND = rule('allow', 'npm install*', 'command');

describe('a command with the network', () => {
  it.each<[string, readonly string[], readonly Rule[], string]>([
    ['asks for the registries', [], [], 'ask'],
    ['runs where rules allow each registry', [], REGISTRY_RULES, 'allow'],
    ['asks where rules allow all but one', [], REGISTRY_RULES.slice(1), 'ask'],
    ['runs where a rule allows the command', [], [COMMAND], 'allow'],
    ['asks for another host', ['a.test'], REGISTRY_RULES, 'ask'],
    ['asks for another host though the command is allowed', ['a.test'], [COMMAND], 'ask'],
    [
      'runs with a host that a rule allows',
      ['a.test'],
      [COMMAND, rule('allow', 'A.test')],
      'allow',
    ],
    [
      'runs with a host below a domain',
      ['x.a.test'],
      [COMMAND, rule('allow', '*.a.test')],
      'allow',
    ],
    [
      'runs with all hosts below a domain',
      ['*.a.test'],
      [COMMAND, rule('allow', '*.a.test')],
      'allow',
    ],
    ['asks for more than a rule allows', ['*.a.test'], [COMMAND, rule('allow', '?.a.test')], 'ask'],
    [
      'asks for a port that is not usual',
      ['a.test:8443'],
      [COMMAND, rule('allow', 'a.test')],
      'ask',
    ],
    ['runs with a port of a rule', ['a.test:8443'], [COMMAND, rule('allow', 'a.test:*')], 'allow'],
    ['is refused a forbidden host', ['a.test'], [COMMAND, rule('deny', '*.test')], 'deny'],
    ['is refused a forbidden host at any port', ['a.test:8443'], [rule('deny', 'a.test')], 'deny'],
    ['is refused a forbidden registry', [], [COMMAND, rule('deny', 'pypi.org')], 'deny'],
    [
      'is refused what an answer allows',
      ['a.test'],
      [rule('deny', 'a.test'), answered('a.test')],
      'deny',
    ],
    ['is refused by a rule about all tools', [], [rule('deny', '*', '*')], 'deny'],
    ['is refused an address', ['10.0.0.1'], [COMMAND, rule('allow', '*')], 'deny'],
    ['is refused an address of an answer', ['10.0.0.1'], [COMMAND, answered('10.0.0.1')], 'deny'],
    ['gets an address by hand', ['10.0.0.1'], [COMMAND, rule('allow', '10.0.0.1')], 'allow'],
    ['asks for the whole network', ['*'], [COMMAND, rule('allow', '*:*')], 'ask'],
    ['is refused the whole network', ['*'], [rule('deny', '*')], 'deny'],
  ])('%s', (_, hosts, userRules, decision) => {
    expect(decide({ hosts }, { userRules })).toBe(decision);
  });

  it('is held stricter, and never milder, by the rules of a workspace', () => {
    const by = (...workspaceRules: Rule[]) =>
      decide({}, { userRules: REGISTRY_RULES, workspaceRules });
    expect([by(rule('deny', 'pypi.org')), by(rule('ask', '*'))]).toEqual(['deny', 'ask']);
    expect(decide({}, { workspaceRules: [rule('allow', '*')] })).toBe('ask');
  });

  it('has the whole network where no host can be opened by name, and asks for just that', () => {
    const policy = { opensHosts: false, userRules: [COMMAND, ...REGISTRY_RULES] };
    expect(decide({}, policy)).toBe('ask');
    expect(decide({ hosts: ['a.test'] }, policy)).toBe('ask');
    expect(decide({}, { ...policy, trustsNetwork: true })).toBe('allow');
  });

  it('wants the network where it only names hosts', () => {
    expect(decide({ permissions: [], hosts: ['a.test'] })).toBe('ask');
    const userRules = [{ ...COMMAND, permissions: [] }];
    expect(decide({ permissions: [], hosts: ['pypi.org'] }, { userRules })).toBe('ask');
    for (const host of [
      '',
      'a b',
      'http://a.test',
      'a.test/',
      'a..b',
      '-',
      '*.*',
      'ä.test',
      '[::1]',
      'a.test:0',
      '**',
      'a.*',
    ])
      expect(decide({ hosts: [host] }), host).toBe('deny');
  });

  it.each<[Preset, string, string, string]>([
    ['read-only', 'deny', 'deny', 'deny'],
    ['ask', 'ask', 'ask', 'ask'],
    ['workspace', 'ask', 'ask', 'ask'],
    ['trusted', 'allow', 'allow', 'allow'],
  ])('under the preset %s is decided about as the preset says', (preset, ...decisions) => {
    const { rules: userRules, trustsNetwork } = parseRules(JSON.stringify({ preset }), 'p');
    const by = (...hosts: string[]) => decide({ hosts }, { userRules, trustsNetwork });
    expect([by(), by('a.test'), by('*')]).toEqual(decisions);
  });

  it('asks under the preset trusted for the whole network where rules are about hosts', () => {
    const policy = { trustsNetwork: true, userRules: [rule('deny', 'a.test')] };
    expect([decide({ hosts: ['*'] }, policy), decide({}, policy)]).toEqual(['ask', 'allow']);
  });
});

describe('a connection', () => {
  interface Connection {
    readonly granted?: readonly string[];
    readonly userRules?: readonly Rule[];
    readonly workspaceRules?: readonly Rule[];
    readonly trustsNetwork?: boolean;
    readonly isDistrusted?: boolean;
  }
  const by = (
    target: string,
    { granted = [], userRules = [], workspaceRules = [], ...facts }: Connection,
  ) => {
    const parsed = parseHostPort(target);
    if (parsed === undefined) throw new Error(target);
    const verdict = judgeConnection(parsed, granted, { userRules, workspaceRules }, facts);
    return verdict.isOpen ? verdict.reach : 'closed';
  };

  it.each<[string, string, Connection, string]>([
    ['that nothing opens', 'a.test:443', {}, 'closed'],
    ['to a granted host', 'a.test:443', { granted: ['a.test'] }, 'public'],
    ['to its usual ports', 'a.test:80', { granted: ['a.test'] }, 'public'],
    ['to another port', 'a.test:22', { granted: ['a.test'] }, 'closed'],
    ['to a granted port', 'a.test:22', { granted: ['a.test:22'] }, 'public'],
    ['below a granted domain', 'x.y.a.test:443', { granted: ['*.a.test'] }, 'public'],
    ['to the granted domain itself', 'a.test:443', { granted: ['*.a.test'] }, 'closed'],
    ['to a name that ends alike', 'xa.test:443', { granted: ['*.a.test', 'a.test'] }, 'closed'],
    ['to a registry', 'pypi.org:443', { granted: ['pypi.org'] }, 'any'],
    ['to a registry without TLS', 'pypi.org:80', { granted: ['pypi.org'] }, 'public'],
    ['to another port of a registry', 'pypi.org:22', { granted: ['pypi.org:22'] }, 'public'],
    ['that a rule opens', 'a.test:443', { userRules: [answered('a.test')] }, 'public'],
    ['that the owner opens', 'a.test:443', { userRules: [rule('allow', 'a.test')] }, 'any'],
    [
      'below a domain of the owner',
      'x.a.test:443',
      { userRules: [rule('allow', '*.a.test')] },
      'public',
    ],
    [
      'that a wildcard of the owner opens',
      'a.test:443',
      { userRules: [rule('allow', 'a.tes?')] },
      'public',
    ],
    [
      'that the owner opens beside all',
      'a.test:443',
      { userRules: [rule('allow', 'a.test'), rule('allow', '*')] },
      'any',
    ],
    ['that the owner opens with all', 'a.test:443', { userRules: [rule('allow', '*')] }, 'public'],
    [
      'to a forbidden host',
      'a.test:443',
      { granted: ['a.test'], userRules: [rule('deny', 'a.test')] },
      'closed',
    ],
    [
      'that the workspace forbids',
      'a.test:443',
      { granted: ['a.test'], workspaceRules: [rule('deny', '*')] },
      'closed',
    ],
    [
      'that asks',
      'a.test:443',
      { granted: ['*.test'], userRules: [rule('ask', 'a.test')] },
      'closed',
    ],
    [
      'that was asked for',
      'a.test:443',
      { granted: ['a.test'], userRules: [rule('ask', 'a.test')] },
      'public',
    ],
    ['under the preset trusted', 'a.test:443', { trustsNetwork: true }, 'public'],
    [
      'in a distrusted workspace',
      'a.test:443',
      { trustsNetwork: true, isDistrusted: true },
      'closed',
    ],
    [
      'to a grant in a distrusted workspace',
      'a.test:443',
      { granted: ['a.test'], isDistrusted: true },
      'public',
    ],
    ['to an address', '10.0.0.1:443', { trustsNetwork: true, granted: ['10.0.0.1'] }, 'closed'],
    [
      'to an address of the owner',
      '10.0.0.1:443',
      { userRules: [rule('allow', '10.0.0.1')] },
      'any',
    ],
    [
      'to the loopback interface',
      '127.0.0.1:443',
      { userRules: [rule('allow', '127.*')] },
      'closed',
    ],
    ['to IPv6', '[::1]:443', { userRules: [rule('allow', '*')] }, 'closed'],
    ['to IPv6 of the owner', '[fd00::1]:443', { userRules: [rule('allow', '[fd00::1]')] }, 'any'],
    ['to a number', '2130706433:443', { granted: ['2130706433'], trustsNetwork: true }, 'closed'],
  ])('%s is %s', (_, target, options, reach) => {
    expect(by(target, options)).toBe(reach);
  });
});
