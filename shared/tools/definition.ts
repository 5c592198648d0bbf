/** What a tool is, for both sides: the model is offered it, the edge checks and shows its calls, the bridge runs them. */
import * as z from 'zod';
import { type Effect, type Mode, modeAllows } from '../modes.ts';

/** How a call of the tool is shown: as which document, and which argument streams as its content. */
export type ToolDocument =
  | { readonly type: 'tool_call' }
  | {
      readonly type: 'file_edit';
      /** Name of the argument that holds the path. */
      readonly path: string;
      /** Name of the argument that is the document's content, or null where there is none. */
      readonly content: string | null;
      readonly operation: 'create' | 'edit' | 'delete' | 'rename';
      /** Name of the argument that holds a renamed file's new path. */
      readonly newPath?: string;
    }
  | { readonly type: 'terminal_command'; readonly command: string }
  | { readonly type: 'plan' | 'clarification'; readonly content: string }
  | { readonly type: 'todo_update' };

/** Who carries a call of the tool out: the conversation itself, the bridge, or another agent. */
export type Executor = 'edge' | 'bridge' | 'agent';

/** Where a tool comes from that a bridge offers: a server that its owner listed, and the tool's name there. */
export interface Origin {
  readonly server: string;
  readonly tool: string;
}

/** All that is known of a tool but its arguments. */
export interface ToolFacts {
  /** The canonical name, as offered to the model. */
  readonly name: string;
  /** Other names that models were trained on; a call by one of them is the same call. */
  readonly aliases: readonly string[];
  /** For the model. */
  readonly description: string;
  /** Other argument names -> the canonical one; applied before the schema, never over a canonical argument. */
  readonly renamed: Readonly<Record<string, string>>;
  readonly effect: Effect;
  /** The modes that it is for; without it all that its effect allows. */
  readonly modes?: readonly Mode[];
  /** Whether running it a second time is harmless; `read` tools are so by nature. */
  readonly idempotent: boolean;
  readonly executor: Executor;
  readonly document: ToolDocument;
  /** Only of a tool that is offered: built-in ones have none. */
  readonly origin?: Origin;
}

/** A built-in tool. */
export interface ToolDefinition<Schema extends z.ZodObject = z.ZodObject> extends ToolFacts {
  readonly arguments: Schema;
  /** What the bridge's rules match: a path or a command line. Tools of the edge have none. */
  readonly subject: (args: z.infer<Schema>) => string;
  /** All of them, the one of `subject` first, where a call can have several. */
  readonly subjects?: (args: z.infer<Schema>) => readonly string[];
}

/** Whether the tool's subject is a path of the workspace. */
export function takesPath({ executor, document, origin }: ToolFacts): boolean {
  return executor === 'bridge' && document.type !== 'terminal_command' && origin === undefined;
}

/** Whether a mode lets the tool run: by what it may change, and by what it is for. */
export function modeHasTool(
  mode: Mode,
  { effect, modes }: Pick<ToolFacts, 'effect' | 'modes'>,
): boolean {
  return modeAllows(mode, effect) && (modes?.includes(mode) ?? true);
}

/** Everything that the machine's rules have to say something about before the call runs; never empty. */
export function subjectsOf<Schema extends z.ZodObject>(
  tool: ToolDefinition<Schema>,
  args: z.infer<Schema>,
): readonly string[] {
  return tool.subjects?.(args) ?? [tool.subject(args)];
}

/** Keeps the schema's type for `subject` while the catalogue holds all tools as one type. */
export function defineTool<Schema extends z.ZodObject>(
  definition: ToolDefinition<Schema>,
): ToolDefinition<Schema> {
  return definition;
}

/** Arguments under their canonical names; what is not renamed stays as it is. */
export function renameArguments(
  tool: Pick<ToolDefinition, 'renamed'>,
  args: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const renamed = Object.entries(args).flatMap(([name, value]) => {
    const canonical = Object.hasOwn(tool.renamed, name) ? tool.renamed[name] : undefined;
    if (canonical === undefined) return [[name, value]];
    return Object.hasOwn(args, canonical) ? [] : [[canonical, value]];
  });
  // Not by assignment: an argument named `__proto__` would give others to an object that shows none.
  return Object.fromEntries(renamed);
}

/** A tool in the form of OpenAI's function definitions; `parameters` is JSON Schema. */
export interface FunctionDefinition {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: Record<string, unknown>;
  };
}

/** Made once for each tool: a quarter of a millisecond for all of them, which every turn would pay. */
const functions = new WeakMap<ToolDefinition, FunctionDefinition>();

/** Shared by all callers: not to be changed. */
export function toFunctionDefinition(tool: ToolDefinition): FunctionDefinition {
  const known = functions.get(tool);
  if (known) return known;
  const { $schema: _, ...parameters } = z.toJSONSchema(tool.arguments, { io: 'input' });
  const { name, description } = tool;
  const made: FunctionDefinition = {
    type: 'function',
    function: { name, description, parameters },
  };
  functions.set(tool, made);
  return made;
}
