import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { expect, it } from 'vitest';
import { BLOCK_NAMES, type PromptChange } from '../../../shared/settings/prompt-blocks.ts';
import { TOOLS } from '../../../shared/tools/catalogue.ts';
import { modeHasTool } from '../../../shared/tools/definition.ts';
import { BUILT_IN } from '../../../shared/tools/toolbox.ts';
import { Mode } from '../../../shared/wire/modes.ts';
import type { PromptFacts } from '../blocks/block.ts';
import { CODE_CHANGES } from '../blocks/code-changes.ts';
import { FAMILIES, familyOf, offeredTo } from '../families.ts';
import { buildSystemPrompt } from '../system.ts';

/** A model of each family, by the name that a request could give. */
const MODELS: Readonly<Record<string, string>> = {
  claude: 'anthropic/Claude-Sonnet-4.5',
  'gpt-codex': 'gpt-5.1-codex-max',
  'gpt-5': 'openai/gpt-5.2',
  'gpt-4.1': 'gpt-4.1-mini',
  small: 'qwen2.5-coder:7b-instruct',
};

const INSTRUCTIONS = [{ server: 'tickets', text: 'Search before you open one.' }];

it.each(Mode.options)('the whole system prompt in %s mode', async (mode) => {
  const facts = { ...factsOf(mode), instructions: INSTRUCTIONS, rules: ['Use tabs.'] };
  await expect(buildSystemPrompt(facts)).toMatchFileSnapshot(`prompts/mode-${mode}.txt`);
});

it('the whole system prompt without a bridge', async () => {
  const facts = { ...factsOf('agent'), tools: [] };
  await expect(buildSystemPrompt(facts)).toMatchFileSnapshot('prompts/no-bridge.txt');
});

it('the whole system prompt for a subagent that explores', async () => {
  const facts = { ...factsOf('ask'), subagent: { type: 'explore' } };
  await expect(buildSystemPrompt(facts)).toMatchFileSnapshot('prompts/subagent-explore.txt');
});

it.each(FAMILIES)('the whole system prompt for the family $name', async ({ name, changes }) => {
  const model = MODELS[name] ?? '';
  expect(familyOf([model])?.name).toBe(name);
  const prompt = buildSystemPrompt({ ...factsOf('agent'), model }, changes);
  await expect(prompt).toMatchFileSnapshot(`prompts/family-${name}.txt`);
});

it('the whole system prompt says when to use each tool that changes files', () => {
  const changing = TOOLS.filter(({ effect }) => effect === 'write').map(({ name }) => name);
  expect(changing.filter((name) => !CODE_CHANGES.includes(name))).toEqual([]);
});

it('the whole system prompt of a subagent of a type that a file of the workspace defines', async () => {
  const definition = { path: '.drawbridge/agents/reviewer.md', text: 'Be <strict>.' };
  const subagent = { type: 'reviewer', definition };
  const prompt = buildSystemPrompt({ ...factsOf('ask'), subagent });
  await expect(prompt).toMatchFileSnapshot('prompts/subagent.txt');
});

it('the whole system prompt takes at most 2,200 tokens in any mode, for any family and as any subagent', () => {
  const encoding = new Tiktoken(o200k);
  const types = [undefined, 'explore', 'browser-use'];
  const sizes = Mode.options.flatMap((mode) =>
    [null, ...FAMILIES].flatMap((family) =>
      types.map((type) => {
        const subagent = type === undefined ? undefined : { type };
        const prompt = buildSystemPrompt({ ...factsOf(mode), subagent }, family?.changes);
        return encoding.encode(prompt).length;
      }),
    ),
  );
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2_200);
  expect(Math.min(...sizes)).toBeGreaterThan(1_000);
});

it('the whole system prompt has each block once, in the order of the names', () => {
  const more = {
    instructions: INSTRUCTIONS,
    rules: ['Use tabs.'],
    subagent: { type: 'explore' },
    agents: [{ name: 'reviewer', description: 'Reviews a change.' }],
  };
  const facts = { ...factsOf('agent'), ...more };
  const tags = buildSystemPrompt(facts).matchAll(/^<(\w+)>$/gm);
  expect([...tags].map(([, name]) => name)).toEqual(BLOCK_NAMES);
});

it.each([
  ['claude', 'str_replace write edit_file'],
  ['small', 'write str_replace edit_file'],
  ['gpt-5', 'str_replace edit_file write'],
])('a family %s gets the editing tools as %s, and all others where they were', (name, edits) => {
  const all = BUILT_IN.tools.map((tool) => tool.toFunction());
  const offered = offeredTo(familyOf([MODELS[name] ?? '']), all);
  const names = offered.map((one) => one.function.name);
  expect(names.filter((one) => edits.includes(one)).join(' ')).toBe(edits);
  const isOther = (one: string) => !edits.includes(one);
  expect(names.filter(isOther)).toEqual(all.map((one) => one.function.name).filter(isOther));
  expect(names.indexOf('str_replace')).toBeLessThan(names.indexOf('delete_file'));
});

it('a family adds its words to a tool, and leaves the shared definition as it is', () => {
  const described = (family: ReturnType<typeof familyOf>) =>
    offeredTo(
      family,
      BUILT_IN.tools.map((tool) => tool.toFunction()),
    ).find((one) => one.function.name === 'str_replace')?.function.description ?? '';
  const plain = described(null);
  expect(described(familyOf(['llama-3.1-8b-instant']))).toBe(
    `${plain} Copy old_string from the file character by character, with its spaces.`,
  );
  expect(described(null)).toBe(plain);
});

it.each([
  ['vendor/llama-3.1-8b', 'small'],
  ['gemma3:4b-it-q4_K_M', 'small'],
  ['us.anthropic.claude-haiku-4-5-v1:0', 'claude'],
  ['gpt-5-codex', 'gpt-codex'],
  ['qwen3-30b-a3b', null],
  ['llama-3.3-70b-4bit', null],
  ['openai/gpt-oss-120b', null],
  ['gpt-4o', null],
])('a family of %s is %s', (model, name) => {
  expect(familyOf([model])?.name ?? null).toBe(name);
});

it('a family is found by the name at the server too', () => {
  expect(familyOf(['fast', 'vendor/fast-8b'])?.name).toBe('small');
});

it.each<[string, PromptChange, (prompt: string) => string]>([
  [
    'replaces a text',
    { change: 'replace', block: 'asking', text: 'Never ask.' },
    (prompt) => prompt.replace(/(?<=<asking>\n).*(?=\n<\/asking>)/s, 'Never ask.'),
  ],
  [
    'is added to a text',
    { change: 'append', block: 'trust', text: 'Trust no one.' },
    (prompt) => prompt.replace('\n</trust>', '\nTrust no one.\n</trust>'),
  ],
  [
    'leaves a block out',
    { change: 'omit', block: 'citing_code' },
    (prompt) => prompt.replace(/<citing_code>.*<\/citing_code>\n\n/s, ''),
  ],
  [
    'adds a block in its place',
    { change: 'add', block: 'house_style', after: 'role', text: 'Use <b>tabs</b>.' },
    (prompt) =>
      prompt.replace(
        '\n\n<trust>',
        '\n\n<house_style>\nUse <b>tabs</b>.\n</house_style>\n\n<trust>',
      ),
  ],
  [
    'for another mode changes nothing',
    { change: 'omit', block: 'asking', modes: ['plan', 'ask'] },
    (prompt) => prompt,
  ],
  [
    'for another model changes nothing',
    { change: 'omit', block: 'asking', models: ['other-*', 'vendor/*'] },
    (prompt) => prompt,
  ],
  [
    'to a block that the conversation does not have changes nothing',
    { change: 'replace', block: 'user_rules', text: 'Use tabs.' },
    (prompt) => prompt,
  ],
])('a change %s', (_, change, expected) => {
  const prompt = buildSystemPrompt(factsOf('agent'));
  expect(buildSystemPrompt(factsOf('agent'), [change])).toBe(expected(prompt));
});

it('a change holds for its modes and models, whichever of the model’s names a glob matches', () => {
  const [modes, models] = [['agent' as const], ['vendor/fast-*']];
  const change = { change: 'omit', block: 'asking', modes, models } as const;
  const prompt = buildSystemPrompt(factsOf('agent'), [change], ['quick', 'Vendor/Fast-8B']);
  expect(prompt).not.toContain('<asking>');
});

it('a change can stand behind a block that an earlier one added, and behind one that is left out', () => {
  const prompt = buildSystemPrompt(factsOf('agent'), [
    { change: 'omit', block: 'asking' },
    { change: 'add', block: 'one', after: 'asking', text: '1' },
    { change: 'add', block: 'two', after: 'one', text: '2' },
  ]);
  expect(prompt).toContain('<one>\n1\n</one>\n\n<two>\n2\n</two>\n\n<mode>');
});

it('has a description of each block and each family, in their order', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/prompt.md'), 'utf8');
  const named = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name);
  expect(named(/^\| `(\w+)` /gm)).toEqual(BLOCK_NAMES);
  expect(named(/^- `([\w.-]+)` \(/gm)).toEqual(FAMILIES.map(({ name }) => name));
});

function factsOf(mode: Mode): PromptFacts {
  const tools = BUILT_IN.tools.filter((tool) => modeHasTool(mode, tool));
  return { model: 'some-model', mode, tools, rules: [] };
}
