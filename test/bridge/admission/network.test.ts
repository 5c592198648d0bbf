import { describe, expect, it } from 'vitest';
import { judgeConnection } from '../../../bridge/admission/network-verdict.ts';
import type { Policy } from '../../../bridge/admission/policy.ts';
import type { Rule } from '../../../bridge/admission/rules.ts';
import { parseRules } from '../../../bridge/admission/rules.ts';
import { parseHostPort } from '../../../shared/text/hosts.ts';
import { REGISTRIES } from '../../../shared/tools/registries.ts';
import { Decision } from '../../../shared/wire/policy.ts';
import type { Preset } from '../../../shared/wire/preset.ts';
import { judge } from './judging.ts';

const POLICY: Policy = {
  workspace: '/w',
  isConfined: true,
  opensHosts: true,
  userRules: [],
  workspaceRules: [],
};

function decide(
  args: { readonly permissions?: readonly string[]; readonly hosts?: readonly string[] },
  policy: Partial<Policy> = {},
): string {
  const call = {
    tool: 'run_terminal_cmd',
    mode: 'agent' as const,
    arguments: { command: 'npm install', permissions: ['network'], ...args },
  };
  return judge(call, { ...POLICY, ...policy }).decision;
}

/** `deny *.test` as a rule about hosts, `answered a.test` as one that an answer made. */
function rule(text: string, tool = 'network'): Rule {
  const [decision = '', pattern = ''] = text.split(/ (.*)/);
  if (decision !== 'answered') return { tool, pattern, decision: Decision.parse(decision) };
  return { tool, pattern, decision: 'allow', answered: '2026-11-24T00:00:00Z' };
}
const rules = (...texts: readonly string[]) => texts.map((text) => rule(text));
const REGISTRY_RULES = REGISTRIES.map((host) => rule(`answered ${host}`));
const COMMAND = rule('allow npm install*', 'command');

describe('a command with the network', () => {
  it.each<[string, string, readonly Rule[], string]>([
    ['asks for the registries', '', [], 'ask'],
    ['runs where rules allow each registry', '', REGISTRY_RULES, 'allow'],
    ['asks where rules allow all but one', '', REGISTRY_RULES.slice(1), 'ask'],
    ['runs where a rule allows the command', '', [COMMAND], 'allow'],
    ['asks for another host', 'a.test', REGISTRY_RULES, 'ask'],
    ['asks for another host though the command is allowed', 'a.test', [COMMAND], 'ask'],
    ['runs with a host that a rule allows', 'a.test', [COMMAND, rule('allow A.test')], 'allow'],
    ['runs with a host below a domain', 'x.a.test', [COMMAND, rule('allow *.a.test')], 'allow'],
    ['runs with all below a domain', '*.a.test', [COMMAND, rule('allow *.a.test')], 'allow'],
    ['asks for more than a rule allows', '*.a.test', [COMMAND, rule('allow ?.a.test')], 'ask'],
    ['asks for an unusual port', 'a.test:8443', [COMMAND, rule('allow a.test')], 'ask'],
    ['runs with a port of a rule', 'a.test:8443', [COMMAND, rule('allow a.test:*')], 'allow'],
    ['is refused a forbidden host', 'a.test', [COMMAND, rule('deny *.test')], 'deny'],
    ['is refused a forbidden host at any port', 'a.test:8443', rules('deny a.test'), 'deny'],
    ['is refused a forbidden registry', '', [COMMAND, rule('deny pypi.org')], 'deny'],
    ['is refused what is answered', 'a.test', rules('deny a.test', 'answered a.test'), 'deny'],
    ['is refused by a rule about all tools', '', [rule('deny *', '*')], 'deny'],
    ['is refused an address', '10.0.0.1', [COMMAND, rule('allow *')], 'deny'],
    ['is refused an answered address', '10.0.0.1', [COMMAND, rule('answered 10.0.0.1')], 'deny'],
    ['gets an address by hand', '10.0.0.1', [COMMAND, rule('allow 10.0.0.1')], 'allow'],
    ['asks for the whole network', '*', [COMMAND, rule('allow *:*')], 'ask'],
    ['is refused the whole network', '*', rules('deny *'), 'deny'],
  ])('%s', (_, host, userRules, decision) => {
    expect(decide({ hosts: host === '' ? [] : [host] }, { userRules })).toBe(decision);
  });

  it('is held stricter, and never milder, by the rules of a workspace', () => {
    const by = (...workspaceRules: Rule[]) =>
      decide({}, { userRules: REGISTRY_RULES, workspaceRules });
    expect([by(rule('deny pypi.org')), by(rule('ask *'))]).toEqual(['deny', 'ask']);
    expect(decide({}, { workspaceRules: rules('allow *') })).toBe('ask');
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
    const none = ['', 'a b', 'http://a.test', 'a.test/', 'a..b', '-', '*.*', 'ä.test', '[::1]'];
    for (const host of [...none, 'a.test:0', '**', 'a.*'])
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
    const policy = { trustsNetwork: true, userRules: rules('deny a.test') };
    expect([decide({ hosts: ['*'] }, policy), decide({}, policy)]).toEqual(['ask', 'allow']);
  });
});

describe('a connection', () => {
  /** In words: `grants` are hosts, `rules` those of the owner. */
  interface Connection {
    readonly grants?: string;
    readonly rules?: readonly string[];
    readonly workspaceRules?: readonly Rule[];
    readonly trustsNetwork?: boolean;
    readonly isDistrusted?: boolean;
  }
  const by = (
    target: string,
    { grants = '', rules: own = [], workspaceRules = [], ...facts }: Connection,
  ) => {
    const parsed = parseHostPort(target);
    if (parsed === undefined) throw new Error(target);
    const granted = grants.split(' ').filter((host) => host !== '');
    const book = { userRules: rules(...own), workspaceRules };
    const verdict = judgeConnection(parsed, granted, book, facts);
    return verdict.isOpen ? verdict.reach : 'closed';
  };
  const trustsNetwork = true;
  const isDistrusted = true;
  const byWorkspace = { grants: 'a.test', workspaceRules: rules('deny *') };

  it.each<[string, string, Connection, string]>([
    ['that nothing opens', 'a.test:443', {}, 'closed'],
    ['to a granted host', 'a.test:443', { grants: 'a.test' }, 'public'],
    ['to its usual ports', 'a.test:80', { grants: 'a.test' }, 'public'],
    ['to another port', 'a.test:22', { grants: 'a.test' }, 'closed'],
    ['to a granted port', 'a.test:22', { grants: 'a.test:22' }, 'public'],
    ['below a granted domain', 'x.y.a.test:443', { grants: '*.a.test' }, 'public'],
    ['to the granted domain itself', 'a.test:443', { grants: '*.a.test' }, 'closed'],
    ['to a name that ends alike', 'xa.test:443', { grants: '*.a.test a.test' }, 'closed'],
    ['to a registry', 'pypi.org:443', { grants: 'pypi.org' }, 'any'],
    ['to a registry without TLS', 'pypi.org:80', { grants: 'pypi.org' }, 'public'],
    ['to another port of a registry', 'pypi.org:22', { grants: 'pypi.org:22' }, 'public'],
    ['that an answer opens', 'a.test:443', { rules: ['answered a.test'] }, 'public'],
    ['that the owner opens', 'a.test:443', { rules: ['allow a.test'] }, 'any'],
    ['below a domain of the owner', 'x.a.test:443', { rules: ['allow *.a.test'] }, 'public'],
    ['that a wildcard of the owner opens', 'a.test:443', { rules: ['allow a.tes?'] }, 'public'],
    ['that is opened beside all', 'a.test:443', { rules: ['allow a.test', 'allow *'] }, 'any'],
    ['that the owner opens with all', 'a.test:443', { rules: ['allow *'] }, 'public'],
    ['that is forbidden', 'a.test:443', { grants: 'a.test', rules: ['deny a.test'] }, 'closed'],
    ['that the workspace forbids', 'a.test:443', byWorkspace, 'closed'],
    ['that asks', 'a.test:443', { grants: '*.test', rules: ['ask a.test'] }, 'closed'],
    ['that was asked for', 'a.test:443', { grants: 'a.test', rules: ['ask a.test'] }, 'public'],
    ['under the preset trusted', 'a.test:443', { trustsNetwork }, 'public'],
    ['in a distrusted workspace', 'a.test:443', { trustsNetwork, isDistrusted }, 'closed'],
    ['to a grant in such a workspace', 'a.test:443', { grants: 'a.test', isDistrusted }, 'public'],
    ['to an address', '10.0.0.1:443', { trustsNetwork, grants: '10.0.0.1' }, 'closed'],
    ['to an address of the owner', '10.0.0.1:443', { rules: ['allow 10.0.0.1'] }, 'any'],
    ['to the loopback interface', '127.0.0.1:443', { rules: ['allow 127.*'] }, 'closed'],
    ['to IPv6', '[::1]:443', { rules: ['allow *'] }, 'closed'],
    ['to IPv6 of the owner', '[fd00::1]:443', { rules: ['allow [fd00::1]'] }, 'any'],
    ['to a number', '2130706433:443', { grants: '2130706433', trustsNetwork }, 'closed'],
  ])('%s is %s', (_, target, options, reach) => {
    expect(by(target, options)).toBe(reach);
  });
});
