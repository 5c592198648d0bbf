/** The tools that an app brings: functions, tools of free text, and wishes for a server's own tools. */
import * as z from 'zod';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { codebaseSearch } from '../../shared/tools/codebase-search.ts';
import { runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import { strReplace } from '../../shared/tools/str-replace.ts';
import type { ClientTool } from '../../shared/tools/toolbox.ts';
import { webSearch } from '../../shared/tools/web-search.ts';

/** What a request brings. */
export interface BroughtTools {
  readonly functions: readonly ClientTool[];
  /** The types of the server's own tools that it wants. */
  readonly hosted: readonly string[];
  /** As they came. */
  readonly given: readonly object[];
}

const Name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const Description = z.string().nullish();

/** A function as the app defines it. */
const FunctionFields = z.object({
  name: Name,
  description: Description,
  parameters: z.record(z.string(), z.unknown()).nullish(),
});

/** A tool that takes text in place of JSON. Its grammar only the app checks. */
const CustomFields = z.object({
  name: Name,
  description: Description,
  format: z.unknown().optional(),
});

const NamespaceFields = z.object({
  name: Name,
  tools: z.array(z.unknown()).max(REQUEST_LIMITS.maxClientTools),
});

const Typed = z.looseObject({ type: z.string() });

/** The tools of Chat Completions, whose fields stand below the name of their type. */
export const ChatTools = toolsBy((tool) => [tool[tool.type], [tool.type]]);

/** The tools of Responses. */
export const ResponsesTools = toolsBy((tool) => [tool, []]);

type ReadTool = Omit<BroughtTools, 'given'>;
type FieldsOf = (tool: z.infer<typeof Typed>) => [fields: unknown, path: string[]];

function toolsBy(fieldsOf: FieldsOf) {
  const { maxClientTools, maxClientToolChars } = REQUEST_LIMITS;
  return z
    .array(Typed)
    .max(maxClientTools)
    .transform((tools, context): BroughtTools => {
      const read = tools.map((tool, at) => readTool(tool, fieldsOf, [at], context));
      const functions = read.flatMap((each) => each.functions);
      const refuse = (message: string) => context.addIssue({ code: 'custom', message });
      if (new Set(functions.map(({ name }) => name)).size < functions.length)
        refuse('Two functions have the same name');
      if (functions.length > maxClientTools) refuse(`There may be ${maxClientTools} functions`);
      if (JSON.stringify(functions).length > maxClientToolChars)
        refuse(`All functions together may take ${maxClientToolChars} characters`);
      const hosted = [...new Set(read.flatMap((each) => each.hosted))];
      return { functions, hosted, given: tools };
    });
}

function readTool(
  tool: z.infer<typeof Typed>,
  fieldsOf: FieldsOf,
  path: readonly (string | number)[],
  context: z.RefinementCtx,
): ReadTool {
  const [fields, below] = fieldsOf(tool);
  const parse = <Output>(schema: z.ZodType<Output>) => {
    const { data, error } = schema.safeParse(fields);
    for (const issue of error?.issues ?? [])
      context.addIssue({ ...issue, path: [...path, ...below, ...issue.path] });
    return data;
  };
  switch (tool.type) {
    case 'function': {
      const read = parse(FunctionFields);
      return only(read && functionOf(read));
    }
    case 'custom': {
      const read = parse(CustomFields);
      return only(read && customOf(read));
    }
    case 'namespace': {
      const read = parse(NamespaceFields);
      const inner = (read?.tools ?? []).map((each, at) => {
        const typed = Typed.safeParse(each).data ?? { type: '' };
        return readTool(typed, fieldsOf, [...path, 'tools', at], context);
      });
      const { name: namespace = '' } = read ?? {};
      const functions = inner.flatMap((each) => each.functions);
      return { functions: functions.map((each) => within(namespace, each)), hosted: [] };
    }
    default:
      return { functions: [], hosted: [tool.type] };
  }
}

/**
 * The agent's own tool for one of a server: for the web, commands, patches and a search. Each run has it or not.
 * Undefined where there is none.
 */
export function ownToolFor(type: string): string | undefined {
  return OWN.find(([pattern]) => pattern.test(type))?.[1];
}

/** Types of the web search have the day of their version in the name. */
const OWN = [
  [/^web_search/, webSearch.name],
  [/^(local_)?shell$/, runTerminalCmd.name],
  [/^apply_patch$/, strReplace.name],
  [/^file_search$/, codebaseSearch.name],
] as const;

function only(tool: ClientTool | undefined): ReadTool {
  return { functions: tool ? [tool] : [], hosted: [] };
}

function functionOf({ name, description, parameters }: z.infer<typeof FunctionFields>): ClientTool {
  return {
    name,
    description: description ?? '',
    parameters: parameters ?? { type: 'object', properties: {} },
  };
}

/** The one argument of a tool that takes text. */
export const CUSTOM_INPUT = 'input';

function customOf({ name, description, format }: z.infer<typeof CustomFields>): ClientTool {
  const grammar =
    format === undefined ? '' : `\n\nIts text has this format: ${JSON.stringify(format)}`;
  return {
    name,
    description: `${description ?? ''}${grammar}`,
    parameters: {
      type: 'object',
      properties: { [CUSTOM_INPUT]: { type: 'string' } },
      required: [CUSTOM_INPUT],
    },
    form: { kind: 'custom' },
  };
}

/** The model sees one name. Where it would be too long, its end stays: it says what the function does. */
function within(namespace: string, tool: ClientTool): ClientTool {
  const { kind = 'function' } = tool.form ?? {};
  const name = `${namespace}__${tool.name}`.slice(-MAX_NAME_CHARS);
  return { ...tool, name, form: { kind, namespace, name: tool.name } };
}

const MAX_NAME_CHARS = 64;
