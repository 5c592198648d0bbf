import { expect, it } from 'vitest';
import { POLICY_LIMITS, TUNNEL_LIMITS } from '../../../shared/limits.ts';
import { HOUR } from '../../../shared/units.ts';
import type { MachinePolicy, PolicyRule } from '../../../shared/wire/policy.ts';
import { call, errorOf } from '../api.ts';
import { quicken } from '../follow/watching.ts';
import { NO_POLICY, openBridge } from './scripted-bridge.ts';

const RULE: PolicyRule = {
  id: '0123abcd',
  scope: 'project',
  decision: 'allow',
  tool: 'command',
  pattern: 'npm *',
};

/** A bridge of `ana`, which lets `ben` in. */
async function newBridge() {
  const id = crypto.randomUUID();
  const people = { ana: `ana-${id}`, ben: `ben-${id}`, eve: `eve-${id}` };
  const bridge = await openBridge({ account: people.ana });
  await bridge.greet({ grants: [people.ben] });
  const read = (by: keyof typeof people) =>
    call(`bridges/${bridge.bridgeId}/policy`, { account: people[by] });
  return { bridge, people, read };
}

it('shows the owner what the machine allows, and nobody else', async () => {
  const { bridge, people, read } = await newBridge();
  const policy: MachinePolicy = {
    preset: 'trusted',
    rules: [RULE],
    ruleCount: 201,
    problems: ['It is wrong.'],
    grants: [{ name: people.ben, preset: 'read-only', since: '2026-11-24T00:00:00.000Z' }],
  };
  bridge.policy = policy;
  await expect
    .poll(async () => (await call('bridges', { account: people.ben })).text())
    .toContain(bridge.bridgeId);
  for (const other of ['ben', 'eve'] as const) {
    expect(await errorOf(await read(other))).toMatchObject({ code: 'NOT_FOUND' });
  }
  expect(await (await read('ana')).json()).toEqual(policy);
});

it('says that a bridge is offline', async () => {
  const { bridge, read } = await newBridge();
  await bridge.leave();
  expect(await errorOf(await read('ana'))).toMatchObject({ code: 'UNAVAILABLE' });
});

it('says at once that a bridge has left without an answer', async () => {
  const { bridge, read } = await newBridge();
  const timers = quicken({ [TUNNEL_LIMITS.answerMs]: HOUR });
  bridge.policy = null;
  const shown = read('ana');
  await bridge.next('policy');
  expect(timers.count).toBe(1);
  await bridge.leave();
  expect(await errorOf(await shown)).toMatchObject({ code: 'UNAVAILABLE' });
  expect(timers.count).toBe(0);
});

it.each([
  ['another preset', { preset: 'anything' }],
  ['more rules than a frame takes', { rules: Array(POLICY_LIMITS.maxRules + 1).fill(RULE) }],
  ['a rule without an id', { rules: [{ ...RULE, id: '' }] }],
  ['a name that hides something', { grants: [{ name: 'a\u202eb', preset: 'ask', since: '' }] }],
])('refuses a bridge that answers with %s', async (_, wrong) => {
  const { bridge, read } = await newBridge();
  quicken({ [TUNNEL_LIMITS.answerMs]: 20 });
  bridge.policy = { ...NO_POLICY, ...wrong };
  const shown = read('ana');
  expect(await bridge.closed).toBe(4003);
  expect((await shown).status).toBe(503);
});
