/** What a tool is on this machine: it proposes what a call would do, and does what it has proposed. */
import * as z from 'zod';
import type { Proposal } from '../../shared/approvals.ts';
import type { Metadata } from '../../shared/documents.ts';
import {
  renameArguments,
  subjectsOf,
  type ToolDefinition,
  type ToolFacts,
  takesPath,
} from '../../shared/tools/definition.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { ToolFailure } from '../failure.ts';
import type { Place, Workspace } from '../workspace/workspace.ts';
import type { ReadLedger } from './ledger.ts';

/** At least one: a call that names no path is at home in the whole workspace. */
export type Places<Found extends Place = Place> = readonly [Found, ...Found[]];

/** What a call runs in. */
export interface ToolContext {
  /** All that this call may reach. */
  readonly workspace: Workspace;
  /** Where the call's paths lead, in their order; places to write for tools that write. */
  readonly places: Places;
  readonly ledger: ReadLedger;
  /** Aborted when the call is cancelled. */
  readonly signal: AbortSignal;
  readonly conversationId: string;
  /** Whether a person sees the proposal before it is carried out. */
  readonly isReviewed: boolean;
  /** Takes live output as it comes; the result has the bounded whole. */
  readonly onOutput: (text: string) => void;
}

/** A change to one file: from which bytes to which, each by its SHA-256, and null where there is no file. */
export interface FileChange {
  readonly beforeHash: string | null;
  readonly afterHash: string | null;
  /** What the call comes to once the file has its new bytes. */
  readonly result: ToolResult;
}

/** What a call would do. */
export interface Proposed {
  readonly proposal: Proposal;
  /** For a change to one file; what else a call does cannot be told by looking. */
  readonly change?: FileChange;
  /**
   * Does exactly this. Throws a {@link ToolFailure} for what can be expected, any other error only for a bug, and the
   * signal's reason when the call was cancelled.
   */
  readonly apply: (context: ToolContext) => Promise<ToolResult>;
}

/** A call's arguments, read once: nothing looks at the raw ones again. */
export interface ReadCall {
  /** Under their own names, without what the tool does not know. */
  readonly args: Metadata;
  /** What rules match: paths or a command line. */
  readonly subjects: readonly string[];
  /** What to resolve before anything is proposed; never empty. */
  readonly paths: readonly string[];
  /** Works out what the call would do, and changes nothing. Throws as `apply` does. */
  readonly propose: (context: ToolContext) => Promise<Proposed>;
}

/** What this machine knows of a tool. Of an offer it is what holds without any trust in its server. */
export interface ToolFactsHere extends ToolFacts {
  /** Only of an offer: what its server says, in a definition with this digest. */
  readonly claims?: Pick<ToolFacts, 'effect' | 'idempotent'> & { readonly digest: string };
}

/** A tool with its schema and its work bound together, so that a caller needs to know neither's types. */
export interface BridgeTool {
  readonly definition: ToolFactsHere;
  /** Throws a {@link ToolFailure} (`INVALID_ARGUMENTS`). */
  readonly read: (args: unknown) => ReadCall;
}

/** Does one call whose arguments the tool's schema has parsed; it throws as {@link Proposed.apply} does. */
export type ToolExecutor<Args> = (args: Args, context: ToolContext) => Promise<ToolResult>;

/** The arguments of a tool, as its schema leaves them. */
export type ArgumentsOf<Tool extends ToolDefinition> = z.output<Tool['arguments']>;

/** How a tool works. */
export interface ToolWork<Args> {
  readonly propose: (args: Args, context: ToolContext) => Promise<Proposed>;
  /** The path of a tool whose subject is none. */
  readonly pathOf?: (args: Args) => string;
}

/** Binds a tool's definition to its work here. */
export function bindTool<Definition extends ToolDefinition>(
  definition: Definition,
  { propose, pathOf }: ToolWork<ArgumentsOf<Definition>>,
): BridgeTool {
  return {
    definition,
    read: (given) => {
      const args = parseArguments(definition, given);
      const subjects = subjectsOf(definition, args);
      const paths = takesPath(definition) ? subjects : [pathOf?.(args) ?? '.'];
      return { args, subjects, paths, propose: (context) => propose(args, context) };
    },
  };
}

/** The work of a tool about which there is no more to say than its name and arguments. */
export function doing<Args extends Metadata>(
  { name }: Pick<ToolDefinition, 'name'>,
  execute: ToolExecutor<Args>,
): ToolWork<Args> {
  return {
    propose: async (args) => ({
      proposal: { kind: 'call', tool: name, arguments: args },
      apply: (context) => execute(args, context),
    }),
  };
}

/** A place of a tool that writes. */
export function toWrite(place: Place): Place<'write'> {
  if (place.access === 'write') return place as Place<'write'>;
  throw new Error('A tool that writes was given a place to read.');
}

/** The result that tells of a failure. */
export function toErrorResult({ code, message }: ToolFailure): ToolResult {
  return { status: 'error', code, data: message };
}

/**
 * The edge has parsed them too, but the machine's owner need not trust the edge. Under other names as well: what runs
 * must be what the policy has judged.
 */
function parseArguments<Definition extends ToolDefinition>(
  definition: Definition,
  args: unknown,
): ArgumentsOf<Definition> {
  const named = z.record(z.string(), z.unknown()).safeParse(args);
  const parsed = definition.arguments.safeParse(
    named.success ? renameArguments(definition, named.data) : args,
  );
  if (parsed.success) return parsed.data as ArgumentsOf<Definition>;
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  const message = `The arguments of ${definition.name} are not valid: ${issues.join('; ')}.`;
  throw new ToolFailure('INVALID_ARGUMENTS', message);
}
