import { describe, expect, it } from 'vitest';
import { type JudgedCall, judgeCall } from '../../../bridge/admission/policy.ts';
import { parseRules } from '../../../bridge/admission/rules.ts';
import { Offers } from '../../../packages/host/offers.ts';
import { OFFER_LIMITS } from '../../../shared/limits.ts';
import type { OfferDefinition } from '../../../shared/wire/offer.ts';
import { digestOf, fakeDefinition } from '../../far-ends/fake-offer.ts';

const DIGEST = digestOf(fakeDefinition());
const OTHER = '0'.repeat(64);
const exact = { tool: 'mcp:tickets', pattern: 'tickets/find', decision: 'allow' };

describe('a tool of a server', () => {
  it.for([
    { rules: [], decision: 'ask' },
    { rules: [{ tool: '*', decision: 'allow' }], decision: 'ask' },
    { rules: [exact], decision: 'ask' },
    { rules: [{ ...exact, definition: OTHER }], decision: 'ask' },
    { rules: [{ ...exact, definition: DIGEST }], decision: 'allow' },
    { rules: [{ ...exact, pattern: 'tickets/close', definition: DIGEST }], decision: 'ask' },
    { rules: [{ ...exact, tool: 'mcp:other', definition: DIGEST }], decision: 'ask' },
    { rules: [{ tool: 'command', decision: 'deny' }], decision: 'ask' },
    { rules: [{ tool: 'mcp:*', decision: 'deny' }], decision: 'deny' },
    { rules: [{ tool: 'mcp_tickets_*', decision: 'deny' }], decision: 'deny' },
    {
      rules: [
        { ...exact, definition: DIGEST },
        { tool: 'mcp:tickets', decision: 'deny' },
      ],
      decision: 'deny',
    },
  ])('is judged by $rules: $decision', ({ rules, decision }) => {
    expect(judge(rules).decision).toBe(decision);
  });

  it.for([
    { rules: [exact], said: 'Your rule "allow mcp:tickets" names no definition' },
    { rules: [{ ...exact, definition: OTHER }], said: 'is for another definition' },
    { rules: [{ ...exact, pattern: 'tickets/close' }], said: undefined },
  ])('asked about says that $rules does not hold', ({ rules, said }) => {
    const { reason } = judge(rules);
    if (said === undefined) expect(reason).not.toContain('Your rule');
    else expect(reason).toContain(said);
  });

  it('is allowed by no rule of the workspace', () => {
    const rules = [{ ...exact, definition: DIGEST }];
    expect(judge([], 'agent', rules).decision).toBe('ask');
    const strict = [{ tool: 'mcp:*', decision: 'deny' }];
    expect(judge(rules, 'agent', strict).decision).toBe('deny');
  });

  it('runs in a read-only mode only where the owner believes that it reads', () => {
    expect(judge([], 'ask').decision).toBe('deny');
    expect(judge([{ ...exact, definition: DIGEST }], 'ask').decision).toBe('allow');
  });

  it('gives a rule for its definition no hold on a built-in tool', () => {
    const { rules } = parseRules(
      JSON.stringify({ rules: [{ tool: '*', decision: 'allow', definition: DIGEST }] }),
      'policy.json',
    );
    expect(rules[0]).toMatchObject({ definition: DIGEST });
    const policy = { workspace: '/w', isConfined: false, userRules: rules, workspaceRules: [] };
    const definition = { ...toolOf(fakeDefinition()), name: 'odd' };
    const { claims: _, origin: __, ...builtIn } = definition;
    const call = { definition: builtIn, args: {}, subjects: ['a'], mode: 'agent' } as const;
    expect(judgeCall(call, policy).decision).toBe('ask');
  });
});

describe('a set', () => {
  it('lists a tool that does not fit as unavailable, with the reason', () => {
    const many = Array.from({ length: OFFER_LIMITS.maxOffered + 2 }, (_, index) =>
      fakeDefinition({ name: `mcp_tickets_${index}` }),
    );
    const { offers = [], unavailable = [] } = setOf(many) ?? {};
    expect(offers).toHaveLength(OFFER_LIMITS.maxOffered);
    expect(unavailable.map(({ name }) => name)).toEqual(['mcp_tickets_104', 'mcp_tickets_105']);
    expect(unavailable[0]?.reason).toContain('offers 104 already');

    const long = { name: 'mcp_long', description: 'x'.repeat(OFFER_LIMITS.maxChars) };
    const large = setOf([fakeDefinition(long), fakeDefinition()]);
    expect(large?.offers.map(({ name }) => name)).toEqual(['mcp_tickets_find']);
    expect(large?.unavailable[0]?.reason).toContain('characters');

    let deep: Record<string, unknown> = { type: 'object' };
    for (let level = 0; level < 100; level++) deep = { type: 'object', properties: { deep } };
    const nested = setOf([fakeDefinition({ inputSchema: deep })]);
    expect(nested?.unavailable[0]?.reason).toContain('nests too deeply');
  });

  it('is none where nothing is offered, and the same for the same definitions', () => {
    expect(setOf([])).toBeNull();
    expect(setOf([fakeDefinition()])).toEqual(setOf([fakeDefinition()]));
  });
});

function offersOf(definitions: readonly OfferDefinition[]): Offers {
  const offers = new Offers();
  const call = async () => ({ status: 'success', data: '' }) as const;
  offers.replace(definitions.map((definition) => ({ definition, call })));
  return offers;
}

function setOf(definitions: readonly OfferDefinition[]) {
  return offersOf(definitions).set(() => false);
}

function toolOf(definition: OfferDefinition): JudgedCall['definition'] {
  const tool = offersOf([definition]).find(definition.name);
  if (!tool) throw new Error('not offered');
  return tool.definition;
}

function judge(
  rules: readonly object[],
  mode: JudgedCall['mode'] = 'agent',
  workspaceRules: readonly object[] = [],
) {
  const read = (list: readonly object[]) =>
    parseRules(JSON.stringify({ rules: list }), 'policy.json').rules;
  return judgeCall(
    {
      definition: toolOf(fakeDefinition()),
      args: { word: 'bug' },
      subjects: ['tickets/find'],
      mode,
    },
    {
      workspace: '/w',
      isConfined: false,
      userRules: read(rules),
      workspaceRules: read(workspaceRules),
    },
  );
}
