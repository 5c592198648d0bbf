/** Defines a tool for all sides: the model gets it, the edge checks and shows its calls, the bridge runs them. */
import * as z from 'zod';
import { languageOf } from '../text/languages.ts';
import type { Metadata } from '../wire/documents.ts';
import { type Effect, type Mode, modeAllows } from '../wire/modes.ts';
import { toMeant } from './meant.ts';

/** How a call of the tool is shown: the type of its document, and the argument that streams as its content. */
export type ToolDocument =
  | { readonly type: 'tool_call' }
  | {
      readonly type: 'file_edit';
      /** The name of the argument with the path. */
      readonly path: string;
      /** The name of the argument with the document's content; null if there is none. */
      readonly content: string | null;
      readonly operation: 'create' | 'edit' | 'delete' | 'rename';
      /** The name of the argument with a renamed file's new path. */
      readonly newPath?: string;
    }
  | { readonly type: 'terminal_command'; readonly command: string }
  | { readonly type: 'plan' | 'clarification'; readonly content: string }
  | { readonly type: 'todo_update' };

/** Who runs a call of the tool: the conversation itself (`edge`), the bridge, another agent, or the app that asks (`client`). */
export type Executor = 'edge' | 'bridge' | 'agent' | 'client';

/** The origin of an offered tool: a server that the bridge's owner has listed, and the tool's name there. */
export interface Origin {
  readonly server: string;
  readonly tool: string;
}

/** Everything about a tool except its arguments. */
export interface ToolFacts {
  /** The canonical name, which the model gets. */
  readonly name: string;
  /** Other names that models were trained on. A call by an alias is the same call. */
  readonly aliases: readonly string[];
  /** For the model. */
  readonly description: string;
  /** Other argument names -> the canonical name. Applied before the schema; never replaces a canonical argument. */
  readonly renamed: Readonly<Record<string, string>>;
  /** Arguments of an older form of the tool, under canonical names, in the present form. */
  readonly ofOldForm?: (args: Metadata) => Metadata;
  readonly effect: Effect;
  /**
   * Whether it leaves other content in a file. A rule that forbids or asks about one tool of the catalogue that does also
   * holds all others that do: a model that may not use one takes the next.
   */
  readonly changesContent: boolean;
  /** Whether its result lists paths of its own. It leaves out those that rules hold, with a note. */
  readonly listsPaths: boolean;
  /**
   * Names of the tools whose rules that forbid or ask also hold this one, and not the other way round: `read_file` for a
   * tool that shows what is in files, `list_dir` for one that shows which there are.
   */
  readonly heldWith: readonly string[];
  /** Names of tools that do together what this one does, one for each subject. It is judged as they are, too. */
  readonly parts?: readonly string[];
  /** The modes of the tool. Absent: all modes that allow its effect. */
  readonly modes?: readonly Mode[];
  /** Its subject is no path, but an address or query (rules for `web`), a process's command, or a skill's name. */
  readonly reaches?: 'web' | 'processes' | 'skills';
  /** What the bridge's owner does to get the tool, as an order; only for a tool that not every bridge has. */
  readonly needs?: string;
  /** Whether a second run is harmless, as it always is for `read` tools. */
  readonly idempotent: boolean;
  readonly executor: Executor;
  readonly document: ToolDocument;
  /** Names of the arguments that say to a person in one line what a call is about. Absent: all of them. */
  readonly shows?: readonly string[];
  /** Only for an offered tool: built-in tools have none. */
  readonly origin?: Origin;
}

/** A built-in tool. */
export interface ToolDefinition<
  Schema extends z.ZodObject = z.ZodObject,
  Name extends string = string,
  By extends Executor = Executor,
> extends ToolFacts {
  readonly name: Name;
  readonly executor: By;
  readonly arguments: Schema;
  /** What the bridge's rules match: a path or a command line. Tools of the edge return an empty text. */
  readonly subject: (args: z.infer<Schema>) => string;
  /** All subjects, that of `subject` first, if a call can have several. */
  readonly subjects?: (args: z.infer<Schema>) => readonly string[];
}

/** How a call is shown. The call of an unknown tool is a `tool_call`. */
export function documentOf(tool: Pick<ToolFacts, 'document'> | undefined): ToolDocument {
  return tool?.document ?? { type: 'tool_call' };
}

/** The argument that a document must know before it is shown; null for a document that needs none. */
export function subjectOf(document: ToolDocument): string | null {
  if (document.type === 'file_edit') return document.path;
  return document.type === 'terminal_command' ? document.command : null;
}

/** The metadata that a call's arguments already say. `textOf` gives an argument as text, if it is known. */
export function metadataOfArguments(
  document: ToolDocument,
  textOf: (argument: string) => string | undefined,
): Metadata {
  switch (document.type) {
    case 'file_edit': {
      const { path, operation, newPath } = document;
      const filePath = textOf(path);
      const newPathText = newPath === undefined ? undefined : textOf(newPath);
      return {
        ...(filePath !== undefined && { filePath }),
        operation,
        ...(filePath !== undefined && { language: languageOf(filePath) }),
        ...(newPathText !== undefined && { newPath: newPathText }),
      };
    }
    case 'terminal_command': {
      const command = textOf(document.command);
      return command === undefined ? {} : { command };
    }
    default:
      return {};
  }
}

/** Whether the tool's subject is a path of the workspace. */
export function takesPath({ executor, document, origin, reaches }: ToolFacts): boolean {
  if (origin !== undefined || reaches !== undefined) return false;
  return executor === 'bridge' && document.type !== 'terminal_command';
}

/** Whether a mode lets the tool run: the mode must allow the tool's effect, and the tool must be for the mode. */
export function modeHasTool(
  mode: Mode,
  { effect, modes }: Pick<ToolFacts, 'effect' | 'modes'>,
): boolean {
  return modeAllows(mode, effect) && (modes?.includes(mode) ?? true);
}

/** Every subject that the machine's rules must check before the call runs; never empty. */
export function subjectsOf<Schema extends z.ZodObject>(
  tool: ToolDefinition<Schema>,
  args: z.infer<Schema>,
): readonly string[] {
  return tool.subjects?.(args) ?? [tool.subject(args)];
}

/** Keeps the types of the schema, the name and the executor: a catalogue must have a row for each name. */
export function defineTool<Schema extends z.ZodObject, Name extends string, By extends Executor>(
  definition: ToolDefinition<Schema, Name, By>,
): ToolDefinition<Schema, Name, By> {
  return definition;
}

/** A model's arguments as the tool means them: under its own names, in the form of its schema. */
export function meantArguments(
  tool: ToolDefinition,
  args: Readonly<Record<string, unknown>>,
): Metadata {
  const renamed = renameArguments(tool, args);
  const { parameters } = toFunctionDefinition(tool).function;
  return toMeant(tool.ofOldForm?.(renamed) ?? renamed, parameters) as Metadata;
}

/** Under their canonical names, without nulls. Two names with different values for one argument stay. */
function renameArguments(
  { renamed }: Pick<ToolDefinition, 'renamed'>,
  args: Readonly<Record<string, unknown>>,
): Metadata {
  const canonical = (name: string) =>
    (Object.hasOwn(renamed, name) ? renamed[name] : undefined) ?? name;
  const entries = Object.entries(args).filter(([, value]) => value !== null);
  const first = new Map<string, unknown>();
  const unclear = new Set<string>();
  for (const [name, value] of entries) {
    const meant = canonical(name);
    if (!first.has(meant)) first.set(meant, value);
    else if (first.get(meant) !== value) unclear.add(meant);
  }
  // Not by assignment: an argument named `__proto__` would set the object's prototype.
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const meant = canonical(name);
      return [unclear.has(meant) ? name : meant, value];
    }),
  );
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

/** Made once for each tool: making all takes a quarter of a millisecond, which every turn would pay. */
const functions = new WeakMap<ToolDefinition, FunctionDefinition>();

/** All callers share the result: do not change it. */
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
