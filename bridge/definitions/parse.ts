/** Reads one file that defines a mode or an agent. Pure. */
import type * as z from 'zod';
import { DEFINITION_LIMITS } from '../../shared/limits.ts';
import { findTool, TOOLS } from '../../shared/tools/catalogue.ts';
import { runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import { AgentDefinition, isBuiltIn, ModeDefinition } from '../../shared/wire/definitions.ts';
import { Mode } from '../../shared/wire/modes.ts';
import { isOfferName } from '../../shared/wire/offer.ts';
import { type HeadFields, listOf, splitHead, textOf } from '../rules/frontmatter.ts';

/** A definition, or the reason why the file defines nothing. */
export type Parsed<Definition> = Definition | { readonly reason: string };

/** A file without `base` narrows the mode `ask`, which changes nothing: more must be named. */
export function parseMode(path: string, text: string): Parsed<ModeDefinition> {
  const read = readCommon('mode', path, text);
  if ('reason' in read) return read;
  const base = Mode.safeParse(textOf(read.fields, 'base') || 'ask');
  if (!base.success) return { reason: `base in its head is none of ${Mode.options.join(', ')}` };
  return checked(ModeDefinition, { ...read.common, base: base.data });
}

export function parseAgent(path: string, text: string): Parsed<AgentDefinition> {
  const read = readCommon('agent', path, text);
  if ('reason' in read) return read;
  const { common, fields } = read;
  if (common.text === '') return { reason: 'it is empty' };
  if (common.description === undefined) return { reason: 'its head has no description' };
  const readOnly = textOf(fields, 'readonly').toLowerCase() || 'false';
  if (!['true', 'false'].includes(readOnly)) {
    return { reason: 'readonly in its head is neither true nor false' };
  }
  const changesNothing = readOnly === 'true' || textOf(fields, 'permissionmode') === 'plan';
  return checked(AgentDefinition, { ...common, ...(changesNothing && { readOnly: true }) });
}

type CommonDefinition = Omit<ModeDefinition, 'base'>;

function readCommon(
  kind: 'mode' | 'agent',
  path: string,
  text: string,
):
  | { readonly common: CommonDefinition; readonly fields: HeadFields | undefined }
  | { readonly reason: string } {
  const { body, fields, problem } = splitHead(text);
  if (problem !== undefined) return { reason: problem };
  const name = textOf(fields, 'name') || path.slice(path.lastIndexOf('/') + 1, -'.md'.length);
  if (isBuiltIn(kind, name.toLowerCase())) return { reason: `${name} is a built-in ${kind}` };
  if (fields?.has('disallowedtools')) {
    return { reason: 'disallowedTools in its head has no effect here: list the tools it may use' };
  }
  const description = textOf(fields, 'description');
  const model = textOf(fields, 'model');
  const common = {
    name,
    path,
    text: body,
    ...(description !== '' && { description }),
    ...(fields && namesTools(fields) && { tools: toolsOf(fields) }),
    ...(model !== '' && model !== 'inherit' && { model }),
  };
  return { common, fields };
}

/** `*` stands for all tools, like no list. */
function namesTools(fields: HeadFields): boolean {
  return fields.has('tools') && !listOf(fields, 'tools').includes('*');
}

/** Names that no tool has are dropped, which narrows. */
function toolsOf(fields: HeadFields): string[] {
  const named = listOf(fields, 'tools').flatMap((name) => {
    if (isOfferName(name)) return [name];
    const tool = findTool(name)?.name;
    return tool === undefined ? (OTHER_NAMES[name] ?? []) : [tool];
  });
  return [...new Set(named)];
}

/** How files for Claude Code name tools that have another name here. `Edit` is each tool that edits a file. */
const EDITS = TOOLS.flatMap(({ name, document }) =>
  document.type === 'file_edit' && document.operation === 'edit' ? [name] : [],
);
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  Bash: [runTerminalCmd.name],
  Edit: EDITS,
  MultiEdit: EDITS,
};

function checked<Schema extends z.ZodType>(
  schema: Schema,
  definition: object,
): Parsed<z.output<Schema>> {
  const parsed = schema.safeParse(definition);
  if (parsed.success) return parsed.data;
  const field = String(parsed.error.issues[0]?.path[0] ?? '');
  return { reason: FAULTS[field] ?? `${field} in its head is too long` };
}

const FAULTS: Readonly<Record<string, string>> = {
  name: 'its name is not made of lower-case words with hyphens, such as code-review',
  path: 'its path is too long',
  text: `its text is longer than ${DEFINITION_LIMITS.maxTextChars} characters`,
};
