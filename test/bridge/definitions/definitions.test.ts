import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Definitions } from '../../../bridge/definitions/definitions.ts';
import type { RuleLook } from '../../../bridge/rules/rules.ts';
import { DEFINITION_LIMITS } from '../../../shared/limits.ts';
import { DefinitionSet } from '../../../shared/wire/definitions.ts';
import { temporaryFolder, temporaryWorkspace } from '../tools/temporary-workspace.ts';

const signal = new AbortController().signal;

it('reads modes, and agents of both folders', async () => {
  const { look } = await definitionsOf({
    '.drawbridge/modes/review.md':
      '---\nname: review\ndescription: "Reads: never changes"\nbase: ask\ntools: Read, Grep\nmodel: large\n---\nReview it.',
    '.drawbridge/modes/plain.md': 'Only words.',
    '.drawbridge/modes/notes.txt': 'no mode',
    '.drawbridge/agents/tester.md': '---\ndescription: Runs tests\ntools: [Bash]\n---\nTest.',
    '.claude/agents/reader.md':
      '---\nname: reader\ndescription: Reads\nmodel: inherit\nreadonly: true\ntools: Read, Edit, mcp__docs__find, Task\n---\nRead.',
    '.claude/agents/all.md':
      '---\ndescription: All tools\ntools: "*"\npermissionMode: plan\n---\nAll.',
  });
  expect(await look()).toEqual({
    modes: [
      { name: 'plain', path: '.drawbridge/modes/plain.md', text: 'Only words.', base: 'ask' },
      {
        name: 'review',
        path: '.drawbridge/modes/review.md',
        text: 'Review it.',
        description: 'Reads: never changes',
        base: 'ask',
        model: 'large',
        tools: ['read_file', 'grep'],
      },
    ],
    agents: [
      {
        name: 'tester',
        path: '.drawbridge/agents/tester.md',
        text: 'Test.',
        description: 'Runs tests',
        tools: ['run_terminal_cmd'],
      },
      {
        name: 'all',
        path: '.claude/agents/all.md',
        text: 'All.',
        description: 'All tools',
        readOnly: true,
      },
      {
        name: 'reader',
        path: '.claude/agents/reader.md',
        text: 'Read.',
        description: 'Reads',
        readOnly: true,
        tools: [
          'read_file',
          'str_replace',
          'edit_file',
          'edit_notebook',
          'mcp__docs__find',
          'task',
        ],
      },
    ],
    leftOut: [],
  });
});

it('leaves out what defines nothing, and says why', async () => {
  const { root, look } = await definitionsOf({
    '.drawbridge/modes/agent.md': 'mine',
    '.drawbridge/modes/base.md': '---\nbase: all\n---\nx',
    '.drawbridge/modes/broken.md': '---\nbase: ask\nx',
    '.drawbridge/modes/long.md': 'x'.repeat(DEFINITION_LIMITS.maxTextChars + 1),
    '.drawbridge/modes/Two Words.md': 'x',
    '.drawbridge/agents/same.md': '---\ndescription: One\n---\nx',
    '.claude/agents/same.md': '---\ndescription: Two\n---\nx',
    '.claude/agents/bare.md': 'x',
    '.claude/agents/empty.md': '---\ndescription: Nothing\n---\n',
    '.claude/agents/explore.md': '---\ndescription: Mine\n---\nx',
    '.claude/agents/never.md': '---\ndescription: x\ndisallowedTools: Write\n---\nx',
    '.claude/agents/unsure.md': '---\ndescription: x\nreadonly: maybe\n---\nx',
  });
  const outside = join(await temporaryFolder(), 'outside.md');
  await writeFile(outside, '---\ndescription: x\n---\nsecret');
  await symlink(outside, join(root, '.claude/agents/link.md'));
  execFileSync('mkfifo', [join(root, '.claude/agents/pipe.md')]);
  const { modes, agents, leftOut } = await look();
  expect([...modes, ...agents].map(({ path }) => path)).toEqual(['.drawbridge/agents/same.md']);
  expect(Object.fromEntries(leftOut.map(({ path, reason }) => [path, reason]))).toEqual({
    '.drawbridge/modes/agent.md': 'agent is a built-in mode',
    '.drawbridge/modes/base.md': 'base in its head is none of agent, plan, ask, debug',
    '.drawbridge/modes/broken.md': 'its head, which begins with ---, has no end',
    '.drawbridge/modes/long.md': 'its text is longer than 16384 characters',
    '.drawbridge/modes/Two Words.md':
      'its name is not made of lower-case words with hyphens, such as code-review',
    '.claude/agents/same.md': '.drawbridge/agents/same.md has the same name',
    '.claude/agents/bare.md': 'its head has no description',
    '.claude/agents/empty.md': 'it is empty',
    '.claude/agents/explore.md': 'explore is a built-in agent',
    '.claude/agents/never.md':
      'disallowedTools in its head has no effect here: list the tools it may use',
    '.claude/agents/unsure.md': 'readonly in its head is neither true nor false',
    '.claude/agents/link.md': 'it leads outside the workspace',
    '.claude/agents/pipe.md': 'it is no regular file',
  });
});

it('shows nothing of a path that the policy hides, and no text of one that it closes', async () => {
  const { look } = await definitionsOf({
    '.drawbridge/modes/closed.md': 'closed',
    '.drawbridge/modes/hidden.md': 'hidden',
  });
  const { modes, leftOut } = await look({
    mayName: (path) => !path.includes('hidden'),
    mayRead: (path) => !path.includes('closed'),
  });
  expect(modes).toEqual([]);
  expect(leftOut).toEqual([
    { path: '.drawbridge/modes/closed.md', reason: "the machine's policy does not let it be read" },
  ]);
});

it('stays within the bounds of the wire, and names a part of what is too much', async () => {
  const files = Array.from({ length: DEFINITION_LIMITS.maxFiles + 60 }, (_, index) => [
    `.claude/agents/a${String(index).padStart(3, '0')}.md`,
    `---\ndescription: ${'d'.repeat(500)}\n---\n${'x'.repeat(2_000)}`,
  ]);
  const { look } = await definitionsOf(Object.fromEntries(files));
  const found = await look();
  expect(DefinitionSet.safeParse(found).success).toBe(true);
  expect(found.agents).toHaveLength(32); // 64 Ki of text.
  expect(found.leftOut).toHaveLength(DEFINITION_LIMITS.maxLeftOut);
  expect(found.leftOut[0]?.reason).toBe('all definitions together are too long');
});

it('reads a file again once it has changed, and finds no folder no fault', async () => {
  const { root, look } = await definitionsOf({ 'main.py': '' });
  expect(await look()).toEqual({ modes: [], agents: [], leftOut: [] });
  await mkdir(join(root, '.drawbridge/modes'), { recursive: true });
  await writeFile(join(root, '.drawbridge/modes/one.md'), 'first');
  expect((await look()).modes.map(({ text }) => text)).toEqual(['first']);
  await writeFile(join(root, '.drawbridge/modes/one.md'), 'second one');
  expect((await look()).modes.map(({ text }) => text)).toEqual(['second one']);
});

async function definitionsOf(contents: Readonly<Record<string, string>>) {
  const { root, context } = await temporaryWorkspace(contents);
  const definitions = new Definitions(context.workspace);
  return {
    root,
    look: async (seen: Partial<RuleLook> = {}) => {
      const every = { mayName: () => true, mayRead: () => true, signal };
      const found = await definitions.look({ ...every, ...seen });
      return found ?? expect.unreachable('no definitions in time');
    },
  };
}
