/** The tools of one run: a value, made at the run's start and passed to all code that handles its calls. */

import { OFFER_LIMITS, TOOL_LIMITS } from '../limits.ts';
import { isObject } from '../text/json.ts';
import type { Metadata } from '../wire/documents.ts';
import type { Offer, OfferSet } from '../wire/offer.ts';
import { TOOLS } from './catalogue.ts';
import {
  type Executor,
  type FunctionDefinition,
  meantArguments,
  subjectsOf,
  type ToolDefinition,
  type ToolFacts,
  toFunctionDefinition,
} from './definition.ts';
import { guestEdit } from './guest-edit.ts';
import { leftOut, toMeant } from './meant.ts';
import { savePlan } from './save-plan.ts';
import { previewUndo, undoChanges } from './undo.ts';

/** A tool of a run, built-in or offered. */
export interface Tool extends ToolFacts {
  /** All callers share the result: do not change it. */
  readonly toFunction: () => FunctionDefinition;
  /** A model's arguments as the tool means them, whether or not it accepts them. */
  readonly meant: (args: Metadata) => Metadata;
  /** Takes arguments as a model wrote them, or as the tool means them. */
  readonly read: (args: unknown) => ReadArguments;
  /** What the machine's rules match, from arguments that `read` has accepted; never empty. */
  readonly subjects: (args: Metadata) => readonly string[];
  /** The digest of an offer's definition; built-in tools have none. */
  readonly digest?: string;
  /** Of the app's tools alone. */
  readonly form?: ClientToolForm;
}

export type ReadArguments =
  /** `ignored` names arguments that the tool does not know. */
  | { readonly isValid: true; readonly args: Metadata; readonly ignored?: readonly string[] }
  /** `problem` is for the model, which can correct its call. */
  | { readonly isValid: false; readonly problem: string };

export class Toolbox {
  /** In the order in which the model gets them. */
  readonly tools: readonly Tool[];
  /** The tools that it lacks because the app has some of these names, or so many. */
  readonly displaced: readonly Tool[];
  readonly #byName: ReadonlyMap<string, Tool>;
  readonly #without: Toolbox;
  /** Made once for each list, because every step of a run asks for its toolbox. */
  readonly #withApp = new WeakMap<readonly ClientTool[], Toolbox>();

  /** `without`: the toolbox of a run whose app brings no tools; this one by default. */
  constructor(tools: readonly Tool[], displaced: readonly Tool[] = [], without?: Toolbox) {
    this.tools = tools;
    this.displaced = displaced;
    this.#without = without ?? this;
    this.#byName = new Map(
      tools.flatMap((tool) => [tool.name, ...tool.aliases].map((name) => [name, tool])),
    );
  }

  /** The tool with this name or alias. */
  find(name: string): Tool | undefined {
    return this.#byName.get(name) ?? this.#byName.get(withoutNamespace(name));
  }

  /**
   * The canonical name of a call's tool, or the given name if there is no such tool. One of the app's begins with `app:`,
   * so that it is never taken for one of ours.
   */
  nameOf(name: string): string {
    const tool = this.find(name);
    if (!tool) return name;
    return tool.executor === 'client' ? `app:${tool.name}` : tool.name;
  }

  /** The agent's own tool with this name; undefined where the app has the name. */
  own(name: string): Tool | undefined {
    const tool = this.find(name);
    return tool?.executor === 'client' ? undefined : tool;
  }

  /** The toolbox of a run like this one, but with these tools of its app: they come first, and their names are theirs. */
  with(clientTools: readonly ClientTool[] | undefined): Toolbox {
    const without = this.#without;
    const { tools } = without;
    if (!clientTools || clientTools.length === 0) return without;
    const known = without.#withApp.get(clientTools);
    if (known) return known;
    const names = new Set(clientTools.map(({ name }) => name));
    const free = tools.filter(({ name }) => !names.has(name));
    const kept = free.slice(0, Math.max(0, OFFER_LIMITS.maxTools - clientTools.length));
    const displaced = tools.filter((tool) => !kept.includes(tool));
    const made = new Toolbox([...kept, ...clientTools.map(ofClient)], displaced, without);
    without.#withApp.set(clientTools, made);
    return made;
  }

  /** Who runs a call. The bridge gets calls of unknown tools, and refuses them. */
  executorOf(name: string): Executor {
    return this.find(name)?.executor ?? 'bridge';
  }
}

/** Some models write the namespace of their training before the name, which no API takes back. */
export function withoutNamespace(name: string): string {
  return name.replace(/^(functions|default_api)\./, '');
}

function toTool(definition: ToolDefinition): Tool {
  return {
    ...definition,
    meant: (args) => meantArguments(definition, args),
    toFunction: () => toFunctionDefinition(definition),
    read: (args) => readBuiltIn(definition, args),
    subjects: (args) => subjectsOf(definition, args),
  };
}

function readBuiltIn(definition: ToolDefinition, args: unknown): ReadArguments {
  const { name, arguments: schema } = definition;
  const meant = isObject(args) ? meantArguments(definition, args) : args;
  const { success, data, error } = schema.safeParse(meant);
  if (success) {
    const ignored = [...new Set(leftOut(meant, data))].filter((field) => !COMMENTS.has(field));
    return { isValid: true, args: data, ...(ignored.length > 0 && { ignored }) };
  }
  const [issue] = error.issues;
  const where = issue?.path.join('.') || 'arguments';
  const unknown = Object.keys(Object(meant)).filter((field) => !Object.hasOwn(schema.shape, field));
  const hint =
    unknown.length === 0 ? '' : `. Ignored, as unknown or given twice: ${named(unknown)}`;
  return {
    isValid: false,
    problem: `Invalid arguments for ${name}: ${where}: ${issue?.message}${hint}`,
  };
}

/** Fields that say to a person why a call is made, which change nothing. */
const COMMENTS: ReadonlySet<string> = new Set(['explanation', 'description']);

/** Names of arguments as text for a model, which has written them. */
export function named(names: readonly string[]): string {
  const { maxNamedPaths, maxNameChars } = TOOL_LIMITS;
  const shown = names.slice(0, maxNamedPaths).map((name) => name.slice(0, maxNameChars));
  return shown.join(', ').toWellFormed();
}

/** The toolbox of a run without offers. */
export const BUILT_IN = new Toolbox(TOOLS.map(toTool));

/** The toolbox of a guest's run (guest-edit.ts). */
export const FOR_GUESTS = new Toolbox([toTool(guestEdit)]);

/** The toolbox of a run that saves a plan (save-plan.ts). */
export const FOR_PLAN_FILES = new Toolbox([toTool(savePlan)]);

/** The toolbox of a run that takes changes back, or shows what that would do (undo.ts). */
export const FOR_UNDOS = new Toolbox([previewUndo, undoChanges].map(toTool));

/** Made once for each set, because every step of a run asks for its toolbox. */
const toolboxes = new WeakMap<OfferSet, Toolbox>();

/** A function of the app that asks. A run waits for the results of its calls. */
export interface ClientTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of a call's arguments, which only the app checks. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** How the app wants its calls; absent for a function by its own name. */
  readonly form?: ClientToolForm;
}

/** What a run must begin with: a call of any tool, or of the app's function with this name. */
export type ToolDemand = 'required' | { readonly name: string };

/** `custom`: a call has text in place of JSON. `namespace` and `name`: how the app calls it. */
export interface ClientToolForm {
  readonly kind: 'function' | 'custom';
  readonly namespace?: string;
  readonly name?: string;
}

/** The toolbox of a run with this set of offers, and with the app's own tools. */
export function toolboxWith(
  set: OfferSet | undefined,
  clientTools: readonly ClientTool[] = [],
): Toolbox {
  return toolboxOfOffers(set).with(clientTools);
}

/** The same set gives the same toolbox. */
function toolboxOfOffers(set: OfferSet | undefined): Toolbox {
  if (!set) return BUILT_IN;
  const offers = set.offers.slice(0, OFFER_LIMITS.maxTools - BUILT_IN.tools.length);
  const made = toolboxes.get(set) ?? new Toolbox([...BUILT_IN.tools, ...offers.map(offered)]);
  toolboxes.set(set, made);
  return made;
}

/** An offer as a tool, with its digest. Only the bridge checks the arguments (`packages/host/offers.ts`). */
export function offered(offer: Offer): Tool {
  const { name, description, inputSchema, effect, idempotent, document, origin, digest } = offer;
  return {
    ...foreign({ name, description, parameters: inputSchema }),
    effect,
    idempotent,
    document,
    origin,
    digest,
    executor: 'bridge',
    // Its subject is no path: only rules for its server hold it.
    subjects: () => [`${origin.server}/${origin.tool}`],
  };
}

/** The app decides what its tools may do: no mode holds them, and no rule of a machine. */
function ofClient(tool: ClientTool): Tool {
  return {
    ...foreign(tool),
    effect: 'read',
    idempotent: false,
    document: { type: 'tool_call' },
    executor: 'client',
    subjects: () => [''],
    ...(tool.form && { form: tool.form }),
  };
}

/** What tools have in common whose definition is data. */
function foreign({ name, description, parameters: schema }: ClientTool) {
  const { $schema: _, ...parameters } = schema;
  return {
    name,
    description,
    aliases: [],
    renamed: {},
    heldWith: [],
    changesContent: false,
    listsPaths: false,
    toFunction: () => ({ type: 'function' as const, function: { name, description, parameters } }),
    meant: (args: Metadata) => toMeant(args, schema) as Metadata,
    read: (args: unknown) => readForeign(name, toMeant(args, schema)),
  };
}

function readForeign(name: string, args: unknown): ReadArguments {
  if (isObject(args)) return { isValid: true, args: args as Metadata };
  return { isValid: false, problem: `Invalid arguments for ${name}: #: it is not an object` };
}
