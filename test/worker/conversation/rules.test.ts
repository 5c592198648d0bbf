import { evictDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { type RuleFile, RuleReports, type RuleSet } from '../../../shared/wire/rules.ts';
import { call, chat } from '../api.ts';
import { configure } from '../settings.ts';
import { contextOf } from '../tunnel/scripted-bridge.ts';
import { conversationObject } from './conversing.ts';
import { readFile } from './held-model.ts';
import { answerCalls, conversation, expectPrefixes, query, saidBy, windowsOf } from './sent.ts';

const AGENTS = ruleOf({ path: 'AGENTS.md', text: 'Use tabs.' });
const TYPES = ruleOf({
  path: '.cursor/rules/ts.mdc',
  kind: 'glob',
  globs: ['*.ts'],
  text: 'No any.',
});
const WEB = ruleOf({ path: 'web/AGENTS.md', kind: 'folder', folder: 'web', text: 'Web.' });
const FORMS = ruleOf({ path: '.cursor/rules/forms.mdc', kind: 'manual', text: 'Forms.' });

const ALWAYS_TOLD = '<rule>\nAGENTS.md (for the whole workspace)\nUse tabs.\n</rule>';
const TYPES_TOLD = '<rule>\n.cursor/rules/ts.mdc (for *.ts)\nNo any.\n</rule>';
const WEB_TOLD = '<rule>\nweb/AGENTS.md (for files in web)\nWeb.\n</rule>';
const FORMS_TOLD = '<rule>\n.cursor/rules/forms.mdc (named by the user)\nForms.\n</rule>';

it('the rules of the workspace are sent with the first message, and later only where they have changed', async () => {
  const { sent, say, sees } = await ruled([AGENTS, TYPES]);
  await say('one');
  await say('two');
  sees([{ ...AGENTS, text: 'Use spaces.' }, TYPES]);
  await say('three');
  sees([TYPES]);
  await say('four');
  expect(sent()[0]).toMatch(new RegExp(`\n\n${escaped(ALWAYS_TOLD)}\n\n${query('one')}$`));
  expect(sent().slice(1)).toEqual([
    query('two'),
    `${ALWAYS_TOLD.replace('tabs', 'spaces')}\n\n${query('three')}`,
    `<rule>\nAGENTS.md\n(no longer applies)\n</rule>\n\n${query('four')}`,
  ]);
});

it('the rules of the workspace are sent in the middle of a run once a file is touched, each once', async () => {
  const { sent, requests, say, bridge } = await ruled([AGENTS, TYPES, WEB], (number) =>
    number < 3 ? { calls: [readFile(['src/a.ts', '/work/web/b.ts', './c.ts'][number] ?? '')] } : {},
  );
  await Promise.all([say('go'), answerCalls(bridge, 3)]);
  const roles = (requests.at(-1)?.messages ?? []).map(({ role }) => role);
  expect(roles).toEqual([
    ...['system', 'user', 'assistant', 'tool', 'user', 'assistant', 'tool', 'user'],
    ...['assistant', 'tool'],
  ]);
  expect(sent().slice(1)).toEqual([TYPES_TOLD, WEB_TOLD]);
  await say('more', { context: { openFiles: ['x.ts'] } });
  expect(sent().at(-1)).not.toContain('<rule>');
  expectPrefixes(requests);
});

it('the rules of the workspace are the same after the object is made anew, in the middle of a run and in a fork', async () => {
  const { sent, requests, say, bridge, conversationId } = await ruled(
    [AGENTS, TYPES, WEB],
    (number) => (number % 2 === 0 ? { calls: [readFile(number === 0 ? 'a.ts' : 'web/b')] } : {}),
  );
  await Promise.all([say('one'), answerCalls(bridge, 1)]);
  await evictDurableObject(conversationObject(conversationId()));
  const [{ id }] = await Promise.all([say('two'), answerCalls(bridge, 1)]);
  const last = requests.at(-1);
  expect(sent().slice(1)).toEqual([TYPES_TOLD, query('two'), WEB_TOLD]);
  await Promise.all([chat('edited', { editOf: id }), answerCalls(bridge, 1)]);
  const forked = requests.at(-1)?.messages ?? [];
  expect(forked.slice(0, 6)).toEqual(last?.messages.slice(0, 6));
  expect(saidBy(requests.at(-1)).slice(1)).toEqual([TYPES_TOLD, query('edited'), WEB_TOLD]);
  expectPrefixes(requests.slice(0, 4));
});

it('the rules of the workspace are sent where the request shows their files, or names them', async () => {
  const { sent, say } = await ruled([TYPES, WEB, FORMS]);
  await say('one', { context: { cursor: { path: '/work/a.ts', line: 1 } } });
  await say('two, see @web/b.css and (@forms)');
  expect(sent()[0]).toContain(TYPES_TOLD);
  expect(sent()[0]).not.toContain(WEB_TOLD);
  expect(sent()[1]).toBe(
    `${WEB_TOLD}\n\n${FORMS_TOLD}\n\n${query('two, see @web/b.css and (@forms)')}`,
  );
});

it('the rules of the workspace are explained: which applied to the newest run and why, and which did not', async () => {
  const listed = ruleOf({ path: 'a.mdc', kind: 'description', description: 'A', text: 'a' });
  const read = { ...listed, path: 'b.mdc', notes: ['@x.md does not exist'] };
  const rules = [AGENTS, TYPES, WEB, FORMS, listed, read];
  const { say, bridge, sees, explain } = await ruled(rules, (number) =>
    number === 0 ? { calls: [readFile('x/a.ts'), readFile('b.mdc')] } : {},
  );
  await Promise.all([say('one'), answerCalls(bridge, 2)]);
  const leftOut = [{ path: 'CLAUDE.md', reason: 'AGENTS.md is the same' }];
  sees(rules, leftOut);
  const { id } = await say('two', { context: { rules: ['Be kind.'] } });
  const { rules: reports, ...rest } = await explain();
  expect(rest).toEqual({ responseId: id, isKnown: true, leftOut, skills: [], leftOutSkills: [] });
  expect(reports.map(({ path, state, reason, file }) => [path, state, reason, file])).toEqual([
    ['context.rules[0]', 'applied', 'always', undefined],
    ['AGENTS.md', 'applied', 'always', undefined],
    ['.cursor/rules/ts.mdc', 'applied', 'file', 'x/a.ts'],
    ['web/AGENTS.md', 'unused', 'no_file', undefined],
    ['.cursor/rules/forms.mdc', 'unused', 'not_mentioned', undefined],
    ['a.mdc', 'listed', 'listed', undefined],
    ['b.mdc', 'applied', 'read', undefined],
  ]);
  expect(reports[4]).toMatchObject({ name: 'forms', origin: 'workspace', chars: 6 });
  expect(reports[6]).toMatchObject({ notes: ['@x.md does not exist'], description: 'A' });
});

it('the rules of the workspace are sent again behind a summary, where a run is cut in its middle too', async () => {
  configure({ MODELS: [{ id: 'small', contextWindow: 12_000 }] });
  const long = 'word '.repeat(1_200);
  const turns = 24;
  const { requests, say, bridge } = await ruled([AGENTS, TYPES], (number) =>
    number < turns ? { text: long, calls: [readFile(`f${number}.ts`)] } : {},
  );
  await Promise.all([say('go', { model: 'small' }), answerCalls(bridge, turns)]);
  for (const sent of windowsOf(requests)) {
    expectPrefixes(sent);
    const words = saidBy(sent.at(-1)).join('\n');
    expect(words.split(ALWAYS_TOLD)).toHaveLength(2);
    expect(words.split(TYPES_TOLD).length).toBeLessThanOrEqual(2);
  }
});

/** A conversation with a bridge that reports these rules. */
async function ruled(rules: readonly RuleFile[], answer?: Parameters<typeof conversation>[0]) {
  const held = await conversation(answer);
  const sees = (files: readonly RuleFile[], leftOut: RuleSet['leftOut'] = []) => {
    held.bridge.sees = { ...contextOf('a.ts'), rules: { files: [...files], leftOut } };
  };
  sees(rules);
  const explain = async () => {
    const response = await call(`conversations/${held.conversationId()}/rules`);
    expect(response.status).toBe(200);
    return RuleReports.parse(await response.json());
  };
  return { ...held, sees, explain };
}

function ruleOf(more: Partial<RuleFile> & Pick<RuleFile, 'path' | 'text'>): RuleFile {
  return { origin: 'workspace', kind: 'always', folder: '.', ...more };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
