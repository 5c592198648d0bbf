import { evictDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import type { Findings } from '../../../shared/wire/findings.ts';
import { RuleReports } from '../../../shared/wire/rules.ts';
import type { Skill } from '../../../shared/wire/skills.ts';
import { call } from '../api.ts';
import { configure } from '../settings.ts';
import { contextOf } from '../tunnel/scripted-bridge.ts';
import { conversationObject } from './conversing.ts';
import { readFile } from './held-model.ts';
import { conversation, expectPrefixes, query, saidBy, windowsOf } from './sent.ts';

const FIX = skillOf({ name: 'fix', description: 'How to <fix>' });
const DEPLOY = skillOf({ name: 'deploy', description: 'Deploys', callers: 'person' });
const TIDY = skillOf({ type: 'command', name: 'tidy', callers: 'person' });
const LIST = '<available_skills>\nfix: How to &lt;fix&gt;\n</available_skills>';
const TEXT = `.agents/skills/fix/SKILL.md\n\n${'Look first. '.repeat(60)}`;
const ACTIVE = '(active already: its text is above, unchanged)';
const ACTIVATE = { calls: [{ name: 'Skill', arguments: { skill: 'fix' } }] };

it('skills are listed once for the model, and again where they have changed; without any there is no tool', async () => {
  const { sent, requests, say, sees } = await skilled([FIX, DEPLOY, TIDY]);
  await say('one');
  await say('two');
  sees([DEPLOY, TIDY]);
  await say('three');
  expect(sent()[0]).toContain(`\n\n${LIST}\n\n`);
  expect(sent().slice(1)).toEqual([
    query('two'),
    `<available_skills>\n(none any more)\n</available_skills>\n\n${query('three')}`,
  ]);
  const hasTool = ({ tools }: (typeof requests)[number]) =>
    tools?.some((tool) => tool.function.name === 'activate_skill');
  expect(requests.map(hasTool)).toEqual([true, true, false]);
});

it("a skill's text enters once, however often and by whomever it is activated", async () => {
  const held = await skilled([FIX], (turn) => (turn < 2 ? ACTIVATE : {}));
  const { requests, sent, say, bridge, conversationId, explain } = held;
  const asked = say('go');
  for (let count = 0; count < 2; count++) {
    const { callId, tool, arguments: args } = await bridge.nextCall();
    expect([tool, args]).toEqual(['activate_skill', { name: 'fix' }]);
    bridge.succeed(callId, TEXT, { skill: 'fix' });
  }
  await asked;
  const results = () =>
    (requests.at(-1)?.messages ?? []).flatMap(({ role, content }) =>
      role === 'tool' ? [content] : [],
    );
  expect(results()).toEqual([TEXT, ACTIVE]);
  bridge.finds = found({ type: 'skill', name: 'fix', text: TEXT });
  await say('/fix it');
  expect(bridge.asked.at(-1)?.called).toEqual({ type: 'command', name: 'fix', args: 'it' });
  expect(sent().at(-1)).toBe(`<skill>\n/fix\n${ACTIVE}\n</skill>\n\n${query('/fix it')}`);
  bridge.finds = found({ type: 'skill', name: 'fix', text: 'Another text.' });
  await evictDurableObject(conversationObject(conversationId()));
  await say('/fix again');
  expect(sent().at(-1)).toBe(`<skill>\n/fix\nAnother text.\n</skill>\n\n${query('/fix again')}`);
  expectPrefixes(requests);
  expect(await explain()).toMatchObject([{ name: 'fix', state: 'active' }]);
});

it('a command stands beside the words that call it, and a report says what became of each', async () => {
  const { sent, say, bridge, explain } = await skilled([FIX, DEPLOY, TIDY]);
  bridge.finds = found({ type: 'command', name: 'tidy', text: 'Tidy up <now>.' });
  const { metadata } = await say('/tidy src');
  expect(sent()[0]).toContain(
    `<command>\n/tidy\nTidy up &lt;now&gt;.\n</command>\n\n${query('/tidy src')}`,
  );
  expect(metadata.attachments).toEqual([{ type: 'command', name: 'tidy' }]);
  expect((await explain()).map(({ name, state }) => [name, state])).toEqual([
    ['fix', 'listed'],
    ['deploy', 'unused'],
    ['tidy', 'active'],
  ]);
});

it("a skill's text is never left out, and stands in each window once", async () => {
  configure({ MODELS: [{ id: 'small', contextWindow: 12_000 }] });
  const long = 'word '.repeat(1_200);
  const turns = 24;
  const { requests, say, bridge } = await skilled([FIX], (turn) => {
    if (turn === 0) return ACTIVATE;
    return turn < turns ? { text: long, calls: [readFile(`f${turn}.ts`)] } : {};
  });
  const asked = say('go', { model: 'small' });
  for (let count = 0; count < turns; count++) {
    const { callId, tool } = await bridge.nextCall();
    if (tool === 'activate_skill') bridge.succeed(callId, TEXT, { skill: 'fix' });
    else bridge.succeed(callId, 'content');
  }
  await asked;
  for (const window of windowsOf(requests)) {
    const all = (window.at(-1)?.messages ?? []).map(({ content }) => String(content)).join('\n');
    if (window === windowsOf(requests)[0] && !all.includes('Look first')) continue;
    expect(all.split(TEXT)).toHaveLength(2);
  }
  expect(saidBy(requests.at(-1)).join('\n')).toContain(`<skill>\n/fix\n${TEXT}\n</skill>`);
});

it('others than the owner see the skills of the workspace alone, with the bridge', async () => {
  const own = skillOf({ name: 'own', origin: 'owner', path: '~/.claude/skills/own/SKILL.md' });
  const { say, bridge } = await skilled([FIX, own]);
  await say('one');
  const details = await (await call(`bridges/${bridge.bridgeId}`)).json();
  expect(details).toMatchObject({ skills: [{ name: 'fix' }, { name: 'own' }] });
});

/** A conversation with a bridge that reports these skills. */
async function skilled(skills: readonly Skill[], answer?: Parameters<typeof conversation>[0]) {
  const held = await conversation(answer);
  const sees = (seen: readonly Skill[]) => {
    held.bridge.sees = { ...contextOf('a.ts'), skills: { skills: [...seen], leftOut: [] } };
  };
  sees(skills);
  const explain = async () => {
    const response = await call(`conversations/${held.conversationId()}/rules`);
    return RuleReports.parse(await response.json()).skills;
  };
  return { ...held, sees, explain };
}

function skillOf(more: Partial<Skill> & Pick<Skill, 'name'>): Skill {
  const path = `.agents/skills/${more.name}/SKILL.md`;
  return {
    type: 'skill',
    description: `About ${more.name}`,
    path,
    origin: 'workspace',
    callers: 'anyone',
    ...more,
  };
}

function found(attachment: Findings['attachments'][number]): Findings {
  return { attachments: [attachment], openFiles: [], changed: [], touched: [] };
}
