/** The tools of one run: a value, made at the run's start and passed to all code that handles its calls. */
import type { Metadata } from '../documents.ts';
import { type SchemaCheck, schemaCheck, UnusableSchema } from '../json-schema.ts';
import type { Offer, OfferSet } from '../offer.ts';
import { TOOLS } from './catalogue.ts';
import {
  type Executor,
  type FunctionDefinition,
  subjectsOf,
  type ToolDefinition,
  type ToolFacts,
  toFunctionDefinition,
} from './definition.ts';
import { guestEdit } from './guest-edit.ts';
import { savePlan } from './save-plan.ts';

/** A tool of a run, built-in or offered. */
export interface Tool extends ToolFacts {
  /** All callers share the result: do not change it. */
  readonly toFunction: () => FunctionDefinition;
  /** Takes arguments under their canonical names. */
  readonly read: (args: unknown) => ReadArguments;
  /** What the machine's rules match, from arguments that `read` has accepted; never empty. */
  readonly subjects: (args: Metadata) => readonly string[];
  /** The digest of an offer's definition; built-in tools have none. */
  readonly digest?: string;
}

export type ReadArguments =
  | { readonly isValid: true; readonly args: Metadata }
  /** `problem` is for the model, which can correct its call. */
  | { readonly isValid: false; readonly problem: string };

export class Toolbox {
  /** In the order in which the model gets them. */
  readonly tools: readonly Tool[];
  readonly #byName: ReadonlyMap<string, Tool>;

  constructor(tools: readonly Tool[]) {
    this.tools = tools;
    this.#byName = new Map(
      tools.flatMap((tool) => [tool.name, ...tool.aliases].map((name) => [name, tool])),
    );
  }

  /** The tool with this name or alias. */
  find(name: string): Tool | undefined {
    return this.#byName.get(name);
  }

  /** The canonical name of a call's tool, or the given name if there is no such tool. */
  nameOf(name: string): string {
    return this.find(name)?.name ?? name;
  }

  /** Who runs a call. The bridge gets calls of unknown tools, and refuses them. */
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

/** The toolbox of a run without offers. */
export const BUILT_IN = new Toolbox(TOOLS.map(toTool));

/** The toolbox of a guest's run (guest-edit.ts). */
export const FOR_GUESTS = new Toolbox([toTool(guestEdit)]);

/** The toolbox of a run that saves a plan (save-plan.ts). */
export const FOR_PLAN_FILES = new Toolbox([toTool(savePlan)]);

/** Made once for each set, because every step of a run asks for its toolbox. */
const toolboxes = new WeakMap<OfferSet, Toolbox>();

/** The toolbox of a run with this set of offers. The same set gives the same toolbox. */
export function toolboxWith(set: OfferSet | undefined): Toolbox {
  if (!set) return BUILT_IN;
  const made = toolboxes.get(set) ?? new Toolbox([...BUILT_IN.tools, ...set.offers.map(offered)]);
  toolboxes.set(set, made);
  return made;
}

/** An offer as a tool. It has the digest of its definition, and its own schema checks the arguments. */
export function offered(offer: Offer): Tool {
  const { name, description, inputSchema, effect, idempotent, document, origin, digest } = offer;
  const { $schema: _, ...parameters } = inputSchema;
  const check = schemaCheck(inputSchema);
  return {
    ...{ name, description, effect, idempotent, document, origin, digest },
    aliases: [],
    renamed: {},
    executor: 'bridge',
    // Its subject is no path: only rules for its server hold it.
    changesContent: false,
    heldWith: [],
    toFunction: () => ({ type: 'function', function: { name, description, parameters } }),
    read: (args) => readOffered(name, args, check),
    subjects: () => [`${origin.server}/${origin.tool}`],
  };
}

function readOffered(name: string, args: unknown, check: SchemaCheck): ReadArguments {
  try {
    const problem = isObject(args) ? check(args) : '#: it is not an object';
    if (problem === null) return { isValid: true, args: args as Metadata };
    return { isValid: false, problem: `Invalid arguments for ${name}: ${problem}` };
  } catch (error) {
    if (!(error instanceof UnusableSchema)) throw error;
    return { isValid: false, problem: `${name} cannot be called: ${UNUSABLE_SCHEMA}` };
  }
}

const UNUSABLE_SCHEMA = 'the JSON Schema of its arguments cannot be applied.';

function isObject(value: unknown): value is Metadata {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
