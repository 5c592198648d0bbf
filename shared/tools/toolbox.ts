/** What one run may use: a value, made when the run starts and passed on to everything that looks at its calls. */
import type { Metadata } from '../documents.ts';
import { TOOLS } from './catalogue.ts';
import {
  type Executor,
  type FunctionDefinition,
  subjectsOf,
  type ToolDefinition,
  type ToolFacts,
  toFunctionDefinition,
} from './definition.ts';

/** A tool as a run knows it, whoever has defined it. */
export interface Tool extends ToolFacts {
  /** Shared by all callers: not to be changed. */
  readonly toFunction: () => FunctionDefinition;
  /** Takes arguments under their canonical names. */
  readonly read: (args: unknown) => ReadArguments;
  /** What the machine's rules match, of arguments that were read; never empty. */
  readonly subjects: (args: Metadata) => readonly string[];
}

export type ReadArguments =
  | { readonly isValid: true; readonly args: Metadata }
  /** `problem` is for the model, which can mend it. */
  | { readonly isValid: false; readonly problem: string };

export class Toolbox {
  /** In the order in which they are offered. */
  readonly tools: readonly Tool[];
  readonly #byName: ReadonlyMap<string, Tool>;

  constructor(tools: readonly Tool[]) {
    this.tools = tools;
    this.#byName = new Map(
      tools.flatMap((tool) => [tool.name, ...tool.aliases].map((name) => [name, tool])),
    );
  }

  /** The tool of this name or alias. */
  find(name: string): Tool | undefined {
    return this.#byName.get(name);
  }

  /** The canonical name of a call's tool; the model's own word for one that does not exist. */
  nameOf(name: string): string {
    return this.find(name)?.name ?? name;
  }

  /** Who carries a call out. One of a tool that is not here is for the bridge to refuse. */
  executorOf(name: string): Executor {
    return this.find(name)?.executor ?? 'bridge';
  }
}

function toTool(definition: ToolDefinition): Tool {
  return {
    ...definition,
    toFunction: () => toFunctionDefinition(definition),
    read: (args) => readBuiltIn(definition, args),
    subjects: (args) => subjectsOf(definition, args),
  };
}

function readBuiltIn({ name, arguments: schema }: ToolDefinition, args: unknown): ReadArguments {
  const { success, data, error } = schema.safeParse(args);
  if (success) return { isValid: true, args: data };
  const [issue] = error.issues;
  const where = issue?.path.join('.') || 'arguments';
  return { isValid: false, problem: `Invalid arguments for ${name}: ${where}: ${issue?.message}` };
}

/** The toolbox of a run to which nothing was offered. */
export const BUILT_IN = new Toolbox(TOOLS.map(toTool));
