/** Which tools a rule holds that forbids another tool. */
import { readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { type JudgedCall, judgeCall, type Policy } from '../../../bridge/admission/policy.ts';
import { Rule } from '../../../bridge/admission/rules.ts';
import { OWN_TOOLS, TOOLS } from '../../../shared/tools/catalogue.ts';
import { defineTool, type ToolDefinition } from '../../../shared/tools/definition.ts';
import { write } from '../../../shared/tools/write.ts';

const EVERY_TOOL = [...TOOLS, ...OWN_TOOLS];
const CHANGING = TOOLS.filter(({ changesContent }) => changesContent);
const DECISIONS = ['deny', 'ask'] as const;

/** A tool that no list names yet. */
const newTool: ToolDefinition = defineTool({ ...write, name: 'edit_drawing', aliases: [] });

/** They work in a folder of their own, so a rule about the person's files does not concern them. */
const IN_WORKTREES = ['open_worktree', 'close_worktree', 'remove_worktree'];

it('a list has every tool that a file defines', async () => {
  expect(new Set(EVERY_TOOL)).toEqual(new Set(await definedTools()));
});

it('the table of the documents has every tool that rules name, with all that holds it', async () => {
  const document = new URL('../../../docs/security.md', import.meta.url);
  const lines = (await readFile(document, 'utf8')).split('\n');
  const rows = lines.filter((line) => /^\| `(read|edit|command|web)` +\|/.test(line)).map(cellsOf);
  expect(rows).toEqual(EVERY_TOOL.filter(({ executor }) => executor === 'bridge').map(rowOf));
});

it('lists no tool as equal that does not exist', () => {
  const names = new Set(EVERY_TOOL.map(({ name }) => name));
  for (const { heldWith, parts = [] } of EVERY_TOOL) {
    expect([...heldWith, ...parts].filter((name) => !names.has(name))).toEqual([]);
  }
});

it.for(
  [...EVERY_TOOL, newTool].filter(
    ({ effect, name }) => effect === 'write' && !IN_WORKTREES.includes(name),
  ),
)('a rule about any tool that changes content holds $name', (tool) => {
  for (const { name, aliases } of CHANGING) {
    for (const decision of DECISIONS) {
      for (const called of [name, ...aliases]) {
        expect([called, decisionOn(tool, { tool: called, decision })]).toEqual([called, decision]);
      }
    }
  }
});

it.for(
  EVERY_TOOL.filter(
    ({ executor, effect, reaches }) =>
      executor === 'bridge' && effect === 'read' && reaches === undefined,
  ),
)('a rule that forbids to read files, or to list them, holds $name', (tool) => {
  const held = ['read_file', 'list_dir'].filter(
    (name) => decisionOn(tool, { tool: name, decision: 'deny' }) === 'deny',
  );
  expect(held).not.toEqual([]);
});

it.for(EVERY_TOOL)('a rule that allows any other tool leaves $name as it is', (tool) => {
  const usual = decisionOn(tool);
  for (const { name } of EVERY_TOOL.filter((other) => other.name !== tool.name)) {
    expect(decisionOn(tool, { tool: name, decision: 'allow' })).toBe(usual);
  }
});

it('a person may forbid the edits of guests and saved plans alone', () => {
  for (const tool of ['guest_edit', 'save_plan']) {
    const rule = Rule.parse({ tool, decision: 'deny' });
    const held = EVERY_TOOL.filter((each) => decisionOn(each, rule) === 'deny');
    expect(held.map(({ name }) => name)).toEqual([tool]);
  }
});

it.each(['read', 'write', 'execute'] as const)(
  'a tool of the effect %s that reaches what no rule knows asks, unless the owner forbids it',
  (effect) => {
    const reaches = 'drawings' as 'web';
    const tool: ToolDefinition = { ...newTool, effect, changesContent: false, reaches };
    expect(decisionOn(tool)).toBe('ask');
    expect(decisionOn(tool, { tool: tool.name, decision: 'allow' })).toBe('ask');
    expect(decisionOn(tool, { tool: tool.name, decision: 'deny' })).toBe('deny');
  },
);

it('a tool without its equals does not compile', () => {
  const { changesContent: _, heldWith: __, ...rest } = write;
  // @ts-expect-error -- `changesContent` and `heldWith` are missing.
  expect(defineTool(rest)).toBe(rest);
});

function decisionOn(
  tool: ToolDefinition,
  rule?: { readonly tool: string; readonly decision: Rule['decision'] },
) {
  const policy: Policy = {
    workspace: '/w',
    isConfined: true,
    workspaceRules: [],
    userRules: rule ? [{ ...rule, pattern: '*' }] : [],
  };
  // As many subjects as the tool has, of which the rules need no other fact.
  const subject = tool.reaches === 'web' ? 'https://a.test/' : 'a';
  const subjects = (tool.parts ?? ['']).map((_, index) => `${subject}${index}`);
  const args = tool.name === 'run_terminal_cmd' ? { command: 'ls' } : {};
  const call: JudgedCall = { definition: tool, args, subjects, mode: 'agent' };
  return judgeCall(call, policy).decision;
}

function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}

function rowOf(tool: ToolDefinition): string[] {
  const { name, aliases, effect, reaches } = tool;
  const byEffect = { read: 'read', write: 'edit', execute: 'command' }[effect];
  const category = reaches === 'web' ? reaches : byEffect;
  const holders = EVERY_TOOL.map((other) => other.name).filter((other) => other !== name);
  const quoted = (names: readonly string[]) => names.map((each) => `\`${each}\``).join(', ');
  return [
    ...[quoted([category]), quoted([name]), quoted(aliases)],
    quoted(holders.filter((held) => decisionOn(tool, { tool: held, decision: 'deny' }) === 'deny')),
  ];
}

async function definedTools(): Promise<ToolDefinition[]> {
  const folder = new URL('../../../shared/tools/', import.meta.url);
  const modules: Record<string, unknown>[] = await Promise.all(
    (await readdir(folder)).map((file) => {
      const name = file.replace(/\.ts$/, '');
      return import(`../../../shared/tools/${name}.ts`);
    }),
  );
  const tools = modules.flatMap((module) => Object.values(module).filter(isDefinition));
  return [...new Set(tools)];
}

function isDefinition(value: unknown): value is ToolDefinition {
  return typeof value === 'object' && value !== null && 'subject' in value && 'executor' in value;
}
